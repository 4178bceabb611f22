import { readConfig } from '../../../lib/config/config.ts'
import { createAnswerJson } from '../../../lib/geo/answer/bulk.ts'
import type { Server } from '../../parts/server-options.ts'
import { openOwnGeo } from './open-own-geo.ts'
import { openServerSource } from './server-source.ts'
import { type ListAnswerOptions, type Source, withPrefix } from './source.ts'

/** A block of so many parts takes a second. */
const MOST_PARTS = 100_000

/** `server`: undefined for the databases here. */
export async function openSource(
  server: Server | undefined,
  answerOptions: ListAnswerOptions,
): Promise<Source> {
  return server === undefined
    ? openOwnSource(answerOptions)
    : openServerSource(server, answerOptions)
}

/** Answers from the databases that a server with this environment would use. */
async function openOwnSource(answerOptions: ListAnswerOptions): Promise<Source> {
  const config = readConfig(process.env)
  const geo = await openOwnGeo(config)
  const answer = createAnswerJson(geo, answerOptions)
  const answerWithPrefix = createAnswerJson(geo, withPrefix(answerOptions))
  return {
    answersTo: async (texts) => answerEach(texts, answer),
    ask: async (addresses) => [...answerEach(addresses, answerWithPrefix)],
    mostParts: MOST_PARTS,
    [Symbol.dispose]: () => geo[Symbol.dispose](),
  }
}

/** One at a time: keeping the answers to a whole part of a file would take half again as long. */
function* answerEach(
  texts: readonly string[],
  answer: ReturnType<typeof createAnswerJson>,
): Generator<string> {
  const now = Date.now()
  for (const text of texts) yield answer(text, now)
}
