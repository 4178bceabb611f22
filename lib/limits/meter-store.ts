import type { Warned } from '../db/ledger/notices.ts'
import type { SqliteDb } from '../db/open.ts'
import type { BucketStore } from './buckets/shared-bucket.ts'
import type { Bucket } from './buckets/token-bucket.ts'

export interface StoredPeriod extends Warned {
  readonly requests: number
  readonly overage: number
}

export const NO_COUNTS: StoredPeriod = {
  requests: 0,
  overage: 0,
  warned: 0,
  warnedCap: 0,
  warnedUnits: 0,
}

/** What the meters read. */
export interface MeterStore {
  /**
   * Loads what `readPeriod` then returns for the user. Absent if `readPeriod` reads the database itself.
   * Rejects if the database cannot be read.
   */
  readonly load?: (userId: string, periodStart: number) => Promise<void>
  /** Buckets that all nodes share; absent if this process has its buckets to itself. */
  readonly shared?: BucketStore
  readonly readPeriod: (userId: string, periodStart: number) => StoredPeriod
  /** The bucket of all keys of the user, if its time is `since` or later. */
  readonly readUserBucket: (userId: string, since: number) => Bucket | undefined
  /** Reads the buckets whose time is `since` or later into a new map, by the id of the caller. */
  readonly readBuckets: (since: number) => Map<string, Bucket>
  readonly removeBuckets: (before: number) => Promise<void>
}

/** Reads on the connection of this thread: few rows, found by their keys. */
export function createMeterStore({ $client, execute }: SqliteDb): MeterStore {
  const period = $client.prepare<[string, number], StoredPeriod>(
    `SELECT requests, overage, warned, warned_cap AS warnedCap, warned_units AS warnedUnits
     FROM usage_by_period
     WHERE user_id = ? AND period_start = ?`,
  )
  // Without ORDER BY, which takes several times as long as finding the row or two.
  const userBuckets = $client.prepare<[string, number], Bucket>(
    'SELECT spent, spent_at AS at FROM usage_by_period WHERE user_id = ? AND spent_at >= ?',
  )
  const buckets = $client.prepare<[number], Bucket & { id: string }>(
    'SELECT caller_id AS id, spent, at FROM buckets WHERE at >= ?',
  )
  return {
    readPeriod: (userId, periodStart) => period.get(userId, periodStart) ?? NO_COUNTS,
    readUserBucket: (userId, since) => latest(userBuckets.all(userId, since)),
    readBuckets: (since) =>
      new Map(buckets.all(since).map(({ id, spent, at }) => [id, { spent, at }])),
    removeBuckets: async (before) => {
      await execute({ sql: 'DELETE FROM buckets WHERE at < ?', params: [before] })
    },
  }
}

/** The latest; of those with the same time, the one with the least left. */
function latest(buckets: readonly Bucket[]): Bucket | undefined {
  return buckets.toSorted((a, b) => b.at - a.at || b.spent - a.spent)[0]
}
