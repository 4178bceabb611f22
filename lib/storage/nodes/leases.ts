import { setTimeout as sleep } from 'node:timers/promises'
import { MINUTE_MS, SECOND_MS } from '../../parts/durations.ts'
import { ApiError } from '../../parts/errors.ts'
import { repeat } from '../../parts/repeat.ts'
import { type PgPool, QUICK_MS } from '../../postgres/connection.ts'
import { DEAD_AFTER_MS } from '../../postgres/nodes/nodes.ts'
import type { Leases, LeaseTerms } from '../storage.ts'

export interface LeaseOptions {
  readonly pool: PgPool
  /** This process as a node: see `openMembership`. */
  readonly node: () => { readonly id: string }
  readonly onError: (error: unknown, message: string) => void
  /** Aborts once the server stops. Then the signals of all work abort, too. */
  readonly signal: AbortSignal
  /** How long a lease lasts if its owner neither renews it nor is marked dead; by default 9 seconds. */
  readonly leaseMs?: number
}

/** Its owner gives the work up before others may mark it dead, and so take the lease. */
const LEASE_MS = DEAD_AFTER_MS - SECOND_MS
/** How often a lease is renewed while it lasts: an attempt may fail late. */
const RENEWALS = 6
const LONGEST_WAIT_MS = MINUTE_MS
/** The longest pause between two attempts of a node that waits for a lease. */
const STEP_MS = 100

/** A heartbeat, so that no other node can mark the owner dead before the lease ends. */
const STAY_LIVE = `
  UPDATE nodes SET seen_at = greatest(seen_at, now_ms()) FROM held
  WHERE id = held.owner AND died_at IS NULL`
/**
 * Only a live node can take a lease. Before its end, a lease passes to another node only if its owner is dead
 * or already removed.
 */
const TAKE = `WITH held AS (
  INSERT INTO leases AS held (name, owner, until_ms)
  SELECT $1, id, now_ms() + $3::bigint FROM nodes WHERE id = $2 AND died_at IS NULL
  ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until_ms = excluded.until_ms
  WHERE held.owner = excluded.owner OR held.until_ms <= now_ms()
    OR NOT EXISTS (SELECT FROM nodes WHERE id = held.owner AND died_at IS NULL)
  RETURNING owner) ${STAY_LIVE}`
const RENEW = `WITH held AS (
  UPDATE leases SET until_ms = now_ms() + $3::bigint WHERE name = $1 AND owner = $2
    AND EXISTS (SELECT FROM nodes WHERE id = $2 AND died_at IS NULL)
  RETURNING owner) ${STAY_LIVE}`
const RELEASE = 'DELETE FROM leases WHERE name = $1 AND owner = $2'

/**
 * Keeps nodes from doing the same work at the same time. A lease is a row with an owner and an end. The owner
 * postpones the end while the work runs. If it is killed, others take over once they have marked it dead.
 */
export function createPgLeases(options: LeaseOptions): Leases {
  const { pool, node, onError, signal, leaseMs = LEASE_MS } = options
  /** The work that this process is doing. A row keeps only other nodes from it. */
  const running = new Set<string>()
  const change = async (sql: string, params: readonly unknown[]): Promise<boolean> =>
    (await pool.use((connection) => connection.query(sql, params), QUICK_MS)).changes > 0
  const report = (error: unknown) => {
    if (!signal.aborted) onError(error, 'cannot renew or release a lease, which ends by itself')
  }

  /** Returns null if another node has the lease, or this one does the work already. */
  const take = async <Result>(
    name: string,
    work: (signal: AbortSignal) => Promise<Result>,
    restMs = 0,
  ): Promise<{ result: Result } | null> => {
    if (running.has(name)) return null
    running.add(name)
    try {
      const row = [name, node().id]
      const startedAt = performance.now()
      if (!(await change(TAKE, [...row, leaseMs]))) return null
      const renew = () => change(RENEW, [...row, leaseMs])
      using renewed = keepRenewed({ startedAt, leaseMs }, renew, report)
      const release = (afterMs: number) =>
        (afterMs > 0 ? change(RENEW, [...row, afterMs]) : change(RELEASE, row)).catch(report)
      try {
        const result = await work(AbortSignal.any([renewed.signal, signal]))
        await release(Math.round(startedAt + restMs - performance.now()))
        return { result }
      } catch (error) {
        await release(0)
        throw error
      }
    } finally {
      running.delete(name)
    }
  }
  return {
    runAlone: async (name, work, { restMs = 0 }: LeaseTerms = {}) =>
      (await take(name, work, restMs)) !== null,
    waitAndRun: async (name, work) => {
      const latest = performance.now() + LONGEST_WAIT_MS
      for (;;) {
        const taken = await take(name, work)
        if (taken !== null) return taken.result
        if (performance.now() > latest) {
          throw new ApiError(
            'SERVICE_UNAVAILABLE',
            'Another change of this account is still running; try again later',
          )
        }
        await sleep(STEP_MS * Math.random(), undefined, { signal })
      }
    },
  }
}

/** Renews a lease until it is disposed of. `signal` aborts before another node can take it. */
function keepRenewed(
  { startedAt, leaseMs }: { readonly startedAt: number; readonly leaseMs: number },
  renew: () => Promise<boolean>,
  onError: (error: unknown) => void,
): Disposable & { readonly signal: AbortSignal } {
  const lost = new AbortController()
  const abort = () => lost.abort(new Error('another node may have the lease'))
  const abortAt = (time: number) => setTimeout(abort, time - performance.now()).unref()
  let timer = abortAt(startedAt + leaseMs)
  const renewing = repeat(
    leaseMs / RENEWALS,
    async () => {
      const askedAt = performance.now()
      if (!(await renew())) return abort()
      clearTimeout(timer)
      timer = abortAt(askedAt + leaseMs)
    },
    onError,
  )
  return {
    signal: lost.signal,
    [Symbol.dispose]: () => {
      renewing[Symbol.dispose]()
      clearTimeout(timer)
    },
  }
}
