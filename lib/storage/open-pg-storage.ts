import { openPgKeyRing } from '../access/key-ring/pg-key-ring.ts'
import { createQueries } from '../db/queries.ts'
import { createPgMeterStore } from '../limits/pg-meter-store.ts'
import { MINUTE_MS, SECOND_MS } from '../parts/durations.ts'
import { repeat } from '../parts/repeat.ts'
import type { PgPool } from '../postgres/connection.ts'
import { migratePg } from '../postgres/migrate.ts'
import { createBarrier } from '../postgres/nodes/barrier.ts'
import type { Node } from '../postgres/nodes/nodes.ts'
import { createPgRumReader } from '../rum/postgres/reader.ts'
import { startCleanUp } from './nodes/clean-up.ts'
import { createPgLeases } from './nodes/leases.ts'
import { openMembership } from './nodes/membership.ts'
import { createPgEngine } from './pg-engine.ts'
import type { Storage, StorageOptions } from './storage.ts'

export interface PgStorageOptions extends Pick<StorageOptions, 'now' | 'onError'> {
  readonly pool: PgPool
  /** The version of the release. */
  readonly version: string
  /** How long known keys are accepted while the database is away; default: five minutes. */
  readonly staleKeysMs?: number
}

/** Many, because most of the cost of a transaction is fixed, and these keep no other transactions waiting. */
const COUNTS_AT_ONCE = 10_000
/** How long the last counts wait for a database that is away. */
const LAST_COUNTS_MS = 3 * SECOND_MS

/** Opens the database on a PostgreSQL server, and makes this process one of its nodes. */
export async function openPgStorage(options: PgStorageOptions): Promise<Storage> {
  const { pool, version, staleKeysMs = 5 * MINUTE_MS, now, onError } = options
  await using opening = new AsyncDisposableStack()
  await migratePg(pool)
  const membership = opening.use(await openMembership({ pool, version, onError }))
  const { node } = membership
  const stopping = new AbortController()
  const leases = createPgLeases({ pool, node, onError, signal: stopping.signal })
  opening.use(repeat(SECOND_MS, membership.sendHeartbeat, (error) => onError(error, NO_HEARTBEAT)))
  opening.use(startCleanUp({ pool, node, leases, now, onError }))
  opening.defer(() => stopping.abort())
  const engine = createPgEngine(pool)
  const queries = createQueries(engine.execute)
  const meterStore = createPgMeterStore({ pool, now, onError })
  const { channels, waitForOthers } = createBarrier(pool, () => node().id)
  const keyRings = opening.use(new AsyncDisposableStack())
  const opened = opening.move()
  return {
    db: Object.assign(queries, { engine }),
    shortReads: queries,
    longReads: queries,
    writeCounts: membership.writeCounts,
    countsAtOnce: COUNTS_AT_ONCE,
    lastCountsMs: LAST_COUNTS_MS,
    meterStore,
    openKeys: async (plans, onKeyError) =>
      keyRings.use(
        await openPgKeyRing({
          pool,
          engine,
          plans,
          onError: onKeyError,
          staleMs: staleKeysMs,
          onRevision: membership.acknowledge,
          channels,
          waitForOthers,
        }),
      ),
    rum: { writer: membership.rumWriter, reader: createPgRumReader(pool) },
    leases,
    flushes: shareFlushes(node),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

function shareFlushes(node: () => Node): Storage['flushes'] {
  const run: Storage['flushes']['run'] = (flush) => node().flushes.run(flush)
  return {
    run,
    runOnAll: async (flush) => {
      await run(flush)
      await node().flushes.waitForOthers()
    },
  }
}

const NO_HEARTBEAT = 'cannot send the heartbeat of this node'
