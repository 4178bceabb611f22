import { periodId } from '../db/use-flusher.ts'
import { MINUTE_MS } from '../durations.ts'
import { type MeterStore, NOTHING, type StoredPeriod } from '../limits/meter-store.ts'
import type { Bucket } from '../limits/token-bucket.ts'
import type { PgConnection, PgPool } from './connection.ts'

interface Loaded {
  /** On the monotonic clock, in milliseconds. */
  readonly at: number
  readonly period: StoredPeriod
  readonly bucket: Bucket | undefined
}

/** Loads the counts of a user at the first request. From then on, the meters keep them. */
export async function openPgMeterStore(
  pool: PgPool,
  onError: (error: unknown) => void,
): Promise<MeterStore> {
  /** Users who are loaded, or being loaded, until their meter has taken over what was read. */
  const loading = new Map<string, Promise<void>>()
  const loaded = new Map<string, Loaded>()
  const all = await pool.use(readBuckets)
  const load = async (userId: string, periodStart: number) => {
    const id = periodId({ userId, periodStart })
    try {
      loaded.set(id, await pool.use((connection) => readUser(connection, userId, periodStart)))
    } catch (error) {
      // Look-ups go on without the database. The next count that is written brings the totals.
      onError(error)
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
    readPeriod: (userId, periodStart) => {
      const id = periodId({ userId, periodStart })
      const period = loaded.get(id)?.period ?? NOTHING
      loaded.delete(id)
      return period
    },
    readUserBucket: (userId, since) => {
      const buckets = [...loaded].filter(([id]) => id.endsWith(` ${userId}`))
      const bucket = buckets[0]?.[1].bucket
      return bucket !== undefined && bucket.at >= since ? bucket : undefined
    },
    readDays: (userId, fromDay) =>
      pool.use(async (connection) => {
        const { rows } = await connection.query(
          `SELECT day, sum(requests) FROM usage_by_day
           WHERE user_id = $1 AND day >= $2 GROUP BY day ORDER BY day`,
          [userId, fromDay],
        )
        return rows.map(([day, requests]) => ({ day: Number(day), requests: Number(requests) }))
      }),
    readBuckets: (since) => new Map([...all].filter(([, { at }]) => at >= since)),
    removeBuckets: (before) =>
      pool.use(async (connection) => {
        // Of requests that were refused before they were metered.
        for (const [id, { at }] of loaded) {
          if (performance.now() - at > MINUTE_MS) loaded.delete(id)
        }
        await connection.query('DELETE FROM buckets WHERE at < $1', [before])
      }),
  }
}

async function readBuckets(connection: PgConnection): Promise<Map<string, Bucket>> {
  const { rows } = await connection.query('SELECT caller_id, spent, at FROM buckets')
  return new Map(rows.map(([id, spent, at]) => [String(id), toBucket(spent, at)]))
}

async function readUser(
  connection: PgConnection,
  userId: string,
  periodStart: number,
): Promise<Loaded> {
  const { rows } = await connection.query(
    `SELECT period_start, requests, overage, warned, warned_cap, warned_units, spent, spent_at
     FROM usage_by_period WHERE user_id = $1 ORDER BY spent_at DESC, spent DESC`,
    [userId],
  )
  const [newest] = rows
  const period = rows.find(([start]) => start === periodStart)
  return {
    at: performance.now(),
    bucket: newest && toBucket(newest[6], newest[7]),
    period: period === undefined ? NOTHING : toPeriod(period),
  }
}

function toBucket(spent: unknown, at: unknown): Bucket {
  return { spent: Number(spent), at: Number(at) }
}

function toPeriod([, requests, overage, warned, warnedCap, warnedUnits]: readonly unknown[]) {
  // safe: the columns of the statement
  return { requests, overage, warned, warnedCap, warnedUnits } as StoredPeriod
}
