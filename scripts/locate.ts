import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { readConfig } from '../lib/config/config.ts'
import { makeDataDir } from '../lib/config/data-dir.ts'
import { type Bulk, createBulk, createJsonLines } from '../lib/geo/answer/bulk.ts'
import { CSV_HEADER, createCsvLines } from '../lib/geo/answer/bulk-csv.ts'
import { locate } from '../lib/geo/answer/locate.ts'
import type { Library } from '../lib/geo/library.ts'
import { openGeo } from '../lib/geo/open-geo.ts'
import { createProgress } from '../lib/geo/progress.ts'
import { createLog } from '../lib/log/log.ts'
import { locateList } from './locate/list.ts'
import { readTask } from './locate/options.ts'
import { run } from './parts/run.ts'

const PROGRESS_INTERVAL_MS = 1_000

/** Caches most records of a City file: this process runs briefly and may use more memory. */
const CACHE_BITS = 18

await run(async () => {
  const task = readTask()
  using geo = await openLibrary()
  await untilClosed(
    task.kind === 'list' ? locateList(geo, task.options) : locateLines(geo, task.csv),
  )
})

async function locateLines(geo: Library, csv: boolean): Promise<void> {
  const answer = csv
    ? createCsvLines((address) => locate(geo.places(), address))
    : createJsonLines(geo.find)
  const bulk = createBulk(answer, Date.now)
  const startedAt = performance.now()
  const seconds = () => (performance.now() - startedAt) / 1000
  using progress = showProgress(bulk, seconds)
  const answers = answersTo(process.stdin.setEncoding('utf8'), bulk, csv ? CSV_HEADER : '')
  await pipeline(answers, process.stdout)
  progress.finish()
}

/** Ends quietly if the reader, such as head, has closed the pipe. */
async function untilClosed(work: Promise<void>): Promise<void> {
  try {
    await work
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
    geofeeds: config.geo.geofeeds,
    map: config.geo.map,
    cacheBits: CACHE_BITS,
    log: createLog({ level: config.logLevel, fd: process.stderr.fd }),
    onProgress: createProgress(process.stderr),
    // Uses an existing atlas. Making one is not worth it for a single run.
    ...(config.geo.atlas && { compileAtlas: async () => {} }),
  })
}

async function* answersTo(chunks: AsyncIterable<string>, bulk: Bulk, header: string) {
  yield header
  for await (const chunk of chunks) yield* bulk.push(chunk)
  yield bulk.end()
}

/** Shows the progress every second on a terminal; `finish` writes a last line to any output. */
function showProgress(bulk: Bulk, seconds: () => number) {
  const { stderr } = process
  const write = (end: string) => {
    const line = `${bulk.lines()} lines, ${Math.round(bulk.lines() / seconds())} per second`
    stderr.write(stderr.isTTY ? `\r\u001b[K${line}${end}` : `${line}${end}`)
  }
  const timer = stderr.isTTY ? setInterval(write, PROGRESS_INTERVAL_MS, '') : undefined
  return { finish: () => write('\n'), [Symbol.dispose]: () => clearInterval(timer) }
}

function isClosedPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE'
}
