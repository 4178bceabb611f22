import type { Db } from '../db/open.ts'
import type { Bucket } from './token-bucket.ts'

/** The requests of one caller since the last write. */
export interface CallerUse {
  /** Id of the key, or of the user for sessions. */
  readonly id: string
  readonly userId: string
  /** Empty for sessions. */
  readonly keyId: string
  readonly day: number
  readonly requests: number
  readonly bucket: Bucket
}

/** The requests of one user in a period since the last write. */
export interface UserUse {
  readonly userId: string
  readonly periodStart: number
  readonly requests: number
  /** How many of the requests are charged for. */
  readonly overage: number
  /** The bucket of all keys of the user. */
  readonly bucket: Bucket
}

/** The largest share of the cap that was announced in a period, in per cent. */
export type Warned = 0 | 80 | 100

export interface StoredPeriod {
  readonly requests: number
  readonly warned: Warned
  /** The cap that `warned` is a share of. */
  readonly warnedCap: number
}

export type MeterStore = ReturnType<typeof createMeterStore>

/** The SQL of the meters, prepared once: it runs thousands of times a second. */
export function createMeterStore({ $client }: Db) {
  const addDay = $client.prepare(
    `INSERT INTO usage_by_day (user_id, day, key_id, requests) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET requests = requests + excluded.requests`,
  )
  const addPeriod = $client.prepare(
    `INSERT INTO usage_by_period (user_id, period_start, requests, overage, spent, spent_at)
     VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET requests = requests + excluded.requests,
       overage = overage + excluded.overage, spent = excluded.spent, spent_at = excluded.spent_at`,
  )
  const setBucket = $client.prepare(
    `INSERT INTO buckets (caller_id, spent, at) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET spent = excluded.spent, at = excluded.at`,
  )
  const setWarned = $client.prepare(
    `UPDATE usage_by_period SET warned = @warned, warned_cap = @cap
     WHERE user_id = @userId AND period_start = @periodStart
       AND (warned < @warned OR warned_cap <> @cap)`,
  )
  const period = $client.prepare<[string, number], StoredPeriod>(
    `SELECT requests, warned, warned_cap AS warnedCap FROM usage_by_period
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
  const deleteBuckets = $client.prepare('DELETE FROM buckets WHERE at < ?')
  return {
    addCallerUse: ({ id, userId, keyId, day, requests, bucket }: CallerUse) => {
      setBucket.run(id, bucket.spent, bucket.at)
      if (requests > 0) addDay.run(userId, day, keyId, requests)
    },
    addUserUse: ({ userId, periodStart, requests, overage, bucket }: UserUse) => {
      addPeriod.run(userId, periodStart, requests, overage, bucket.spent, bucket.at)
    },
    /** Records that this share of the cap was announced. Returns false if it already was. */
    markWarned: (userId: string, periodStart: number, warned: Warned, cap: number) =>
      setWarned.run({ userId, periodStart, warned, cap }).changes > 0,
    readPeriod: (userId: string, periodStart: number): StoredPeriod =>
      period.get(userId, periodStart) ?? { requests: 0, warned: 0, warnedCap: 0 },
    /** The bucket of all keys of the user, if its time is `since` or later. */
    readUserBucket: (userId: string, since: number): Bucket | undefined =>
      userBucket.get(userId, since),
    /** The days since `fromDay` that have requests. */
    readDays: (userId: string, fromDay: number) => days.all(userId, fromDay),
    readBuckets: (since: number): Map<string, Bucket> =>
      new Map(buckets.all(since).map(({ id, spent, at }) => [id, { spent, at }])),
    removeBuckets: (before: number) => {
      deleteBuckets.run(before)
    },
  }
}
