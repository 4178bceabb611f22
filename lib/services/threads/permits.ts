import type { KeyRecord } from '../../access/key-records.ts'
import type { CallerRows } from '../../limits/buckets/thread-rows.ts'
import type { Series } from '../../metrics/request-times.ts'
import type { AnswerCount } from '../../usage/request-counts.ts'
import type { Services } from '../services.ts'

/** Lets a network thread answer look-ups with a key until the epoch of the rows changes. */
export interface Permit {
  readonly text: string
  readonly epoch: number
  readonly key: KeyRecord
  readonly rows: CallerRows
}

/** Look-ups that a network thread has answered with one key. */
export interface Use {
  readonly key: KeyRecord
  /** When the last of them arrived, in epoch milliseconds. All were on the same day. */
  readonly at: number
  readonly answers: readonly AnswerCount[]
}

/** What a network thread sends. */
export interface News {
  /** Texts of keys for which it wants permits. */
  readonly wanted?: readonly string[]
  readonly uses?: readonly Use[]
  /** Whole lines for the log, in UTF-8. Each part has a buffer of its own, which the message moves. */
  readonly lines?: readonly Uint8Array<ArrayBuffer>[]
  readonly times?: readonly Series[]
  readonly failures?: readonly string[]
}

type Parts = Pick<
  Services,
  'keys' | 'meters' | 'rowPool' | 'requestCounts' | 'lastUsed' | 'requestTimes' | 'log' | 'now'
>

/** Counts and logs what a network thread has done. Returns the permits that it asks for. */
export function takeNews(parts: Parts, news: News): Permit[] {
  const { log, requestTimes } = parts
  for (const use of news.uses ?? []) takeUse(parts, use)
  for (const lines of news.lines ?? []) log.writeBytes(lines)
  requestTimes.add(news.times ?? [])
  for (const reason of news.failures ?? []) log.error({ reason }, 'unexpected error')
  return (news.wanted ?? []).flatMap((text) => findPermit(parts, text) ?? [])
}

function takeUse({ meters, requestCounts, lastUsed }: Parts, use: Use): void {
  const { key, at, answers } = use
  meters.addCounted({ ...key, key }, at, sumOf(answers))
  const counter = requestCounts.findCounter(key.userId, key.id)
  for (const answer of answers) counter.count(answer, at)
  lastUsed.touch(key, at)
}

function sumOf(answers: readonly AnswerCount[]): number {
  return answers.reduce((sum, { lookUps }) => sum + lookUps, 0)
}

/** Returns null if only the first thread may answer requests with this key. */
function findPermit({ keys, meters, rowPool, now }: Parts, text: string): Permit | null {
  if (rowPool === undefined) return null
  // Read before the key, so that the permit is not valid if keys change meanwhile.
  const { epoch } = rowPool.rows
  const key = keys.find(text, now())
  // Whether a publishable key may be used depends on the page.
  if (key?.type !== 'secret') return null
  const rows = meters.openToThreads({ ...key, key }, now())
  return rows === null ? null : { text, epoch, key, rows }
}
