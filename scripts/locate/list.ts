import { writeFile } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { describeForm } from '../../lib/list/describe-form.ts'
import { BYTE_ORDER_MARK } from '../../lib/list/form.ts'
import { readList } from '../../lib/list/read-list.ts'
import { report } from '../parts/run.ts'
import { countPlaces, createCounts } from './counts.ts'
import { mapPage } from './map-page.tsx'
import { openList } from './open-list.ts'
import type { ListOptions } from './options.ts'
import { type Geo, outputFor, rowWriter } from './row-writer.ts'
import { summaryText } from './summary-text.ts'

/** Looks up the addresses of a list on stdin, and writes what the options ask for. */
export async function locateList(geo: Geo, options: ListOptions): Promise<void> {
  const { form, hasMark, chunks } = await openList(process.stdin, options)
  report(`Read as ${describeForm(form)}`)
  const output = outputFor(form, options.keep)
  const rows = rowWriter(geo, form, output)
  const counts = options.summary || options.map !== undefined ? createCounts() : undefined
  const answers = async function* () {
    yield hasMark && output === 'csv' ? BYTE_ORDER_MARK + rows.header : rows.header
    for await (const part of readList(chunks, form)) {
      counts?.add(part)
      yield part.map(rows.line).join('')
    }
  }
  await pipeline(answers, process.stdout, { end: false })
  if (counts === undefined) return
  const { summary, ...places } = countPlaces(geo, counts)
  if (options.map !== undefined) await writeFile(options.map, await mapPage({ summary, ...places }))
  if (!options.summary) return
  if (options.keep !== undefined) report(summaryText(summary))
  else
    process.stdout.write(
      `${options.json ? JSON.stringify(summary, null, 2) : summaryText(summary)}\n`,
    )
}
