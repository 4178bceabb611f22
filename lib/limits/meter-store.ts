import type { SqliteDb } from '../db/open.ts'
import type { Warned } from '../db/uses.ts'
import type { Bucket } from './token-bucket.ts'

export interface StoredPeriod extends Warned {
  readonly requests: number
  readonly overage: number
}

const NOTHING: StoredPeriod = { requests: 0, overage: 0, warned: 0, warnedCap: 0, warnedUnits: 0 }

export type MeterStore = ReturnType<typeof createMeterStore>

/** What the meters read, on the connection of this thread: few rows, found by their keys. */
export function createMeterStore({ $client, execute }: SqliteDb) {
  const period = $client.prepare<[string, number], StoredPeriod>(
    `SELECT requests, overage, warned, warned_cap AS warnedCap, warned_units AS warnedUnits
     FROM usage_by_period
     WHERE user_id = ? AND period_start = ?`,
  )
  const userBucket = $client.prepare<[string, number], Bucket>(
    `SELECT spent, spent_at AS at FROM usage_by_period WHERE user_id = ? AND spent_at >= ?
     ORDER BY spent_at DESC, spent DESC LIMIT 1`,
  )
  const days = $client.prepare<[string, number], { day: number; requests: number }>(
    `SELECT day, sum(requests) AS requests FROM usage_by_day
     WHERE user_id = ? AND day >= ? GROUP BY day ORDER BY day`,
  )
  const buckets = $client.prepare<[number], Bucket & { id: string }>(
    'SELECT caller_id AS id, spent, at FROM buckets WHERE at >= ?',
  )
  return {
    readPeriod: (userId: string, periodStart: number): StoredPeriod =>
      period.get(userId, periodStart) ?? NOTHING,
    /** The bucket of all keys of the user, if its time is `since` or later. */
    readUserBucket: (userId: string, since: number): Bucket | undefined =>
      userBucket.get(userId, since),
    /** The days since `fromDay` that have requests. */
    readDays: (userId: string, fromDay: number) => days.all(userId, fromDay),
    readBuckets: (since: number): Map<string, Bucket> =>
      new Map(buckets.all(since).map(({ id, spent, at }) => [id, { spent, at }])),
    removeBuckets: async (before: number): Promise<void> => {
      await execute({ sql: 'DELETE FROM buckets WHERE at < ?', params: [before] })
    },
  }
}
