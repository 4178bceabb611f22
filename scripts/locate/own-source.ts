import { join } from 'node:path'
import { readConfig } from '../../lib/config/config.ts'
import { makeDataDir } from '../../lib/config/data-dir.ts'
import { createAnswer } from '../../lib/geo/answer/bulk.ts'
import { openGeo } from '../../lib/geo/open-geo.ts'
import { createProgress } from '../../lib/geo/progress.ts'
import { createLog } from '../../lib/log/log.ts'
import type { AskedOfList, Source } from './source.ts'

/** Caches most records of a City file: this process runs briefly and may use more memory. */
const CACHE_BITS = 18

/** Answers from the databases that a server with this environment would use. */
export async function openOwnSource(asked: AskedOfList): Promise<Source> {
  const config = readConfig(process.env)
  makeDataDir(config.dataDir)
  const geo = await openGeo({
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
  const answer = createAnswer(geo, asked)
  return {
    answersTo: async (texts) => answerEach(texts, answer),
    [Symbol.dispose]: () => geo[Symbol.dispose](),
  }
}

/** One at a time: keeping the answers to a whole part of a file would take half again as long. */
function* answerEach(
  texts: readonly string[],
  answer: ReturnType<typeof createAnswer>,
): Generator<string> {
  const now = Date.now()
  for (const text of texts) yield answer(text, now)
}
