import type { Db } from '../db/open.ts'
import type { Bucket } from './token-bucket.ts'

/** What one caller has used since it was last written. */
export interface CallerUse {
  /** Id of the key; of the user for sessions. */
  readonly id: string
  readonly userId: string
  /** Empty for sessions. */
  readonly keyId: string
  readonly day: number
  readonly requests: number
  readonly bucket: Bucket
}

/** What one user has used in a period since it was last written. */
export interface UserUse {
  readonly userId: string
  readonly periodStart: number
  readonly requests: number
  /** Those of them that are charged for. */
  readonly overage: number
}

/** The share of the cap that was last announced in a period, in per cent. */
export type Warned = 0 | 80 | 100

export interface StoredPeriod {
  readonly requests: number
  readonly warned: Warned
  /** The cap that this is a share of. */
  readonly warnedCap: number
}

/** The statements of the meters, prepared once: they run thousands of times a second. */
export interface MeterStore {
  addCallerUse(use: CallerUse): void
  addUserUse(use: UserUse): void
  /** Marks the share of this cap as announced; false: it was. */
  markWarned(userId: string, periodStart: number, warned: Warned, cap: number): boolean
  readPeriod(userId: string, periodStart: number): StoredPeriod
  /** Requests of each day since `fromDay` that has some. */
  readDays(userId: string, fromDay: number): { readonly day: number; readonly requests: number }[]
  readBuckets(since: number): Map<string, Bucket>
  removeBuckets(before: number): void
}

export function createMeterStore({ $client }: Db): MeterStore {
  const addDay = $client.prepare(
    `INSERT INTO usage_by_day (user_id, day, key_id, requests) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET requests = requests + excluded.requests`,
  )
  const addPeriod = $client.prepare(
    `INSERT INTO usage_by_period (user_id, period_start, requests, overage) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET requests = requests + excluded.requests,
       overage = overage + excluded.overage`,
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
  const days = $client.prepare<[string, number], { day: number; requests: number }>(
    `SELECT day, sum(requests) AS requests FROM usage_by_day
     WHERE user_id = ? AND day >= ? GROUP BY day ORDER BY day`,
  )
  const buckets = $client.prepare<[number], Bucket & { id: string }>(
    'SELECT caller_id AS id, spent, at FROM buckets WHERE at >= ?',
  )
  const deleteBuckets = $client.prepare('DELETE FROM buckets WHERE at < ?')
  return {
    addCallerUse: ({ id, userId, keyId, day, requests, bucket }) => {
      setBucket.run(id, bucket.spent, bucket.at)
      if (requests > 0) addDay.run(userId, day, keyId, requests)
    },
    addUserUse: ({ userId, periodStart, requests, overage }) => {
      addPeriod.run(userId, periodStart, requests, overage)
    },
    markWarned: (userId, periodStart, warned, cap) =>
      setWarned.run({ userId, periodStart, warned, cap }).changes > 0,
    readPeriod: (userId, periodStart) =>
      period.get(userId, periodStart) ?? { requests: 0, warned: 0, warnedCap: 0 },
    readDays: (userId, fromDay) => days.all(userId, fromDay),
    readBuckets: (since) =>
      new Map(buckets.all(since).map(({ id, spent, at }) => [id, { spent, at }])),
    removeBuckets: (before) => {
      deleteBuckets.run(before)
    },
  }
}
