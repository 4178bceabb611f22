import { periodId } from '../db/ledger/pending-counts.ts'
import { MINUTE_MS } from '../parts/durations.ts'
import type { PgConnection, PgPool } from '../postgres/connection.ts'
import { createPgBucketStore } from './buckets/pg-bucket-store.ts'
import { type MeterStore, NO_COUNTS, type StoredPeriod } from './meter-store.ts'

interface Loaded {
  /** On the monotonic clock, in milliseconds. */
  readonly at: number
  readonly period: StoredPeriod
}

interface MeterStoreOptions {
  readonly pool: PgPool
  readonly now: () => number
  readonly onError: (error: unknown, message: string) => void
}

/** Loads the counts of a user at the first request. From then on, the meters keep them. */
export function createPgMeterStore({ pool, now, onError }: MeterStoreOptions): MeterStore {
  /** By user and period: what is being read, and what was read, until a meter takes it over. */
  const loading = new Map<string, Promise<void>>()
  const loaded = new Map<string, Loaded>()
  const shared = createPgBucketStore({ pool, now, onError })
  const load = async (userId: string, periodStart: number) => {
    const id = periodId({ userId, periodStart })
    try {
      const period = await pool.use((connection) => readPeriod(connection, userId, periodStart))
      loaded.set(id, { at: performance.now(), period })
    } catch (error) {
      onError(error, 'cannot read the counts of a user; they are completed later')
      throw error
    } finally {
      loading.delete(id)
    }
  }
  return {
    load: (userId, periodStart) => {
      const id = periodId({ userId, periodStart })
      const known = loading.get(id) ?? load(userId, periodStart)
      loading.set(id, known)
      return known
    },
    shared,
    readPeriod: (userId, periodStart) => {
      const id = periodId({ userId, periodStart })
      const period = loaded.get(id)?.period ?? NO_COUNTS
      loaded.delete(id)
      return period
    },
    readUserBucket: () => undefined,
    readBuckets: () => new Map(),
    removeBuckets: async () => {
      // No meter took these over, since the request was refused first.
      for (const [id, { at }] of loaded) {
        if (performance.now() - at > MINUTE_MS) loaded.delete(id)
      }
      await shared.removeFull()
    },
  }
}

async function readPeriod(
  connection: PgConnection,
  userId: string,
  periodStart: number,
): Promise<StoredPeriod> {
  const { rows } = await connection.query(
    `SELECT requests, overage, warned, warned_cap, warned_units
     FROM usage_by_period WHERE user_id = $1 AND period_start = $2`,
    [userId, periodStart],
  )
  if (rows[0] === undefined) return NO_COUNTS
  const [requests, overage, warned, warnedCap, warnedUnits] = rows[0]
  // safe: the columns of the statement
  return { requests, overage, warned, warnedCap, warnedUnits } as StoredPeriod
}
