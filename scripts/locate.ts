import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { readConfig } from '../lib/config.ts'
import { makeDataDir } from '../lib/data-dir.ts'
import { type Bulk, createBulk, toJsonLine } from '../lib/geo/bulk.ts'
import { CSV_HEADER, toCsvLine } from '../lib/geo/bulk-csv.ts'
import { openGeo } from '../lib/geo/open-geo.ts'
import { createProgress } from '../lib/geo/progress.ts'
import { createLog } from '../lib/log.ts'
import { repeat } from '../lib/periodic.ts'
import { run } from './run.ts'

const USAGE = `Usage: npm run --silent locate -- [options] < addresses.txt > results.jsonl
Looks up one IPv4 or IPv6 address per line and writes one JSON object per line, in order.
  --csv   write CSV with a header row instead
  --help  show this
`

const PROGRESS_INTERVAL_MS = 1_000

/** Most records of a City file: this process has the memory for itself, for a while. */
const CACHE_BITS = 18

await run(async () => {
  const options = readOptions(process.argv.slice(2))
  if (options.help) process.stdout.write(USAGE)
  else await locateLines(options.csv)
})

function readOptions(args: string[]) {
  const flag = { type: 'boolean', default: false } as const
  try {
    return parseArgs({ args, options: { csv: flag, help: flag } }).values
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`)
  }
}

async function locateLines(csv: boolean): Promise<void> {
  using geo = await openLibrary()
  const answer = csv ? toCsvLine : toJsonLine
  const bulk = createBulk({ locate: geo.find, answer, now: Date.now })
  const startedAt = performance.now()
  const seconds = () => (performance.now() - startedAt) / 1000
  using progress = showProgress(bulk, seconds)
  const answers = answersTo(process.stdin.setEncoding('utf8'), bulk, csv ? CSV_HEADER : '')
  try {
    await pipeline(answers, process.stdout)
    progress.finish()
  } catch (error) {
    if (!isClosedPipe(error)) throw error
  }
}

async function openLibrary() {
  const config = readConfig(process.env)
  makeDataDir(config.dataDir)
  return openGeo({
    directory: join(config.dataDir, 'geo'),
    files: config.geo.files,
    map: config.geo.map,
    cacheBits: CACHE_BITS,
    log: createLog({ level: config.logLevel, fd: process.stderr.fd }),
    onProgress: createProgress(process.stderr),
    // An atlas that is there is used; for one run it is not worth making.
    ...(config.geo.atlas && { compileAtlas: async () => {} }),
  })
}

async function* answersTo(chunks: AsyncIterable<string>, bulk: Bulk, header: string) {
  yield header
  for await (const chunk of chunks) yield* bulk.push(chunk)
  yield bulk.end()
}

/** Shows how far it is every second on a terminal, and a line at the end anywhere. */
function showProgress(bulk: Bulk, seconds: () => number) {
  const { stderr } = process
  const write = (end: string) => {
    const line = `${bulk.lines()} lines, ${Math.round(bulk.lines() / seconds())} per second`
    stderr.write(stderr.isTTY ? `\r\u001b[K${line}${end}` : `${line}${end}`)
  }
  const periodic = stderr.isTTY ? repeat(PROGRESS_INTERVAL_MS, () => write(''), rethrow) : undefined
  return { finish: () => write('\n'), [Symbol.dispose]: () => periodic?.[Symbol.dispose]() }
}

function rethrow(error: unknown): never {
  throw error
}

/** Whoever reads, such as head, has enough. */
function isClosedPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE'
}
