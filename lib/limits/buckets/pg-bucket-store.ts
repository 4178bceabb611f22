import { MINUTE_MS } from '../../parts/durations.ts'
import { reportOutages } from '../../parts/report-outages.ts'
import type { PgPool } from '../../postgres/connection.ts'
import type { Ask, BucketStore } from './shared-bucket.ts'

interface BucketStoreOptions {
  readonly pool: PgPool
  /** `Date.now`, or a test's clock, which all its nodes share. */
  readonly now: () => number
  /** Called when the database fails, and when it recovers: see `reportOutages`. */
  readonly onError: (error: unknown, message: string) => void
}

/** Buckets that refill in a minute are full after two. */
const KEPT_MS = 2 * MINUTE_MS
/**
 * Many buckets share a round trip, which costs PostgreSQL as much as ten of them. Callers seldom wait for it: most
 * still have requests left when it begins.
 */
const GATHER_MS = 100

/** Buckets of all nodes. They refill by the clock of the database, because the clocks of nodes differ. */
export function createPgBucketStore({ pool, now, onError }: BucketStoreOptions) {
  let nodes = 1
  const run = (sql: string, params: readonly unknown[]) =>
    pool.use((connection) => connection.query(sql, params))
  /** null: the time of the database. */
  const time = () => (now === Date.now ? null : now())
  const charge: BucketStore['charge'] = async (asks) => {
    const { rows } = await run(CHARGE, [...toColumns(asks), time()])
    nodes = Number(rows[0]?.[3] ?? nodes)
    const grants = new Map(
      rows.map(([place, granted, spent]) => [
        asks[Number(place) - 1],
        { granted: Number(granted), spent: Number(spent) },
      ]),
    )
    // These are new: the question has created them, and the next one charges them.
    const missing = asks.filter((ask) => !grants.has(ask))
    const others = missing.length > 0 ? await charge(missing) : []
    for (const [at, grant] of others.entries()) grants.set(missing[at], grant)
    return asks.flatMap((ask) => grants.get(ask) ?? [])
  }
  return {
    charge: refuseOverlappingAsks(charge, onError),
    gatherMs: GATHER_MS,
    countNodes: () => nodes,
    now,
    /** Removes full buckets, except those that a node is using: waiting for them could be a deadlock. */
    removeFull: async (): Promise<void> => {
      await run(REMOVE_FULL, [time(), KEPT_MS])
    },
  } satisfies BucketStore & { removeFull(): Promise<void> }
}

const AWAY = 'cannot share the rate limits with the other nodes; each uses an equal part of them'

/** Lets one question at a time through, and reports when the database fails and when it recovers. */
function refuseOverlappingAsks(
  charge: BucketStore['charge'],
  onError: BucketStoreOptions['onError'],
): BucketStore['charge'] {
  const attempts = reportOutages((error) => onError(error, AWAY))
  let isAsking = false
  const ask: BucketStore['charge'] = async (asks) => {
    // Requests give up after a second, but their questions would still hold connections.
    if (isAsking) throw new Error('the last question is not answered yet')
    isAsking = true
    try {
      return await charge(asks)
    } finally {
      isAsking = false
    }
  }
  return async (asks) => {
    try {
      const grants = await ask(asks)
      attempts.succeeded()
      return grants
    } catch (error) {
      attempts.failed(error)
      throw error
    }
  }
}

const REMOVE_FULL = `DELETE FROM buckets WHERE caller_id IN (
  SELECT caller_id FROM buckets WHERE at < coalesce($1::bigint, now_ms()) - $2::bigint
  FOR UPDATE SKIP LOCKED
)`
const CHARGE =
  'SELECT place, granted, charged, nodes FROM lease_buckets($1, $2, $3, $4, $5, $6, $7, $8)'

function toColumns(asks: readonly Ask[]) {
  return [
    asks.map(({ id }) => id),
    asks.map(({ capacity }) => capacity),
    asks.map(({ windowMs }) => windowMs),
    asks.map(({ debt }) => debt),
    asks.map(({ returned }) => returned),
    asks.map(({ need }) => need),
    asks.map(({ want }) => want),
  ]
}
