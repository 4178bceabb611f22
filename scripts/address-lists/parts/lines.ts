import { decodeList } from '../../../lib/address-lists/decode.ts'
import { createLines } from '../../../lib/geo/answer/bulk.ts'
import { createCsvLines } from '../../../lib/geo/answer/bulk-csv.ts'
import { LineBuffer } from '../../../lib/parts/log/line-buffer.ts'
import { print } from '../../parts/run.ts'
import { createAnswerEntries } from './answer-entries.ts'
import { readBytes } from './input.ts'
import type { Task } from './options.ts'
import { showProgress } from './progress.ts'
import type { Source } from './source.ts'

const JSON_LINES = { header: '', line: (answer: string) => `${answer}\n` }

/** Looks up one address or block per line, or the addresses of the command line. */
export async function locateLines(source: Source, task: Task): Promise<void> {
  const { input, addresses, answerOptions, csv, ofBlocks } = task
  const answersTo = createAnswerEntries(source, answerOptions, ofBlocks)
  const { header, line } = csv ? createCsvLines(answerOptions) : JSON_LINES
  using progress = showProgress('lines')
  const answered = async (lines: readonly string[]) => {
    const written = new LineBuffer()
    for (const answer of await answersTo(lines)) written.add(line(answer))
    progress.add(lines.length)
    return written.take()
  }
  const answers = async function* () {
    yield header
    const lines = createLines()
    const chunks = addresses === undefined ? readText(input) : [addresses.join('\n')]
    for await (const chunk of chunks) yield* await answered(lines.push(chunk))
    yield* await answered(lines.end())
  }
  await print(answers)
  if (addresses === undefined) progress.finish()
}

/** With newlines for all line breaks. */
async function* readText(path: string): AsyncGenerator<string> {
  let endsWithReturn = false
  for await (const text of decodeList(readBytes(path))) {
    const rest = endsWithReturn && text.startsWith('\n') ? text.slice(1) : text
    endsWithReturn = text.endsWith('\r')
    yield rest.includes('\r') ? rest.replaceAll(/\r\n?/g, '\n') : rest
  }
}
