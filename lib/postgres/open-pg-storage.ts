import { createQueries } from '../db/queries.ts'
import { SECOND_MS } from '../durations.ts'
import { repeat } from '../periodic.ts'
import type { Storage, StorageOptions } from '../storage/storage.ts'
import type { PgPool } from './connection.ts'
import { createPgEngine } from './engine.ts'
import { openPgKeyRing } from './key-ring.ts'
import { openPgMeterStore } from './meter-store.ts'
import { migratePg } from './migrate.ts'
import { joinNodes } from './nodes.ts'
import { createPgUses } from './uses.ts'

export interface PgStorageOptions extends Pick<StorageOptions, 'onError'> {
  readonly pool: PgPool
  /** Of the release. */
  readonly version: string
  readonly rum: Storage['rum']
}

/** Opens the database on a PostgreSQL server, and makes this process one of its nodes. */
export async function openPgStorage(options: PgStorageOptions): Promise<Storage> {
  const { pool, version, rum, onError } = options
  await using opening = new AsyncDisposableStack()
  await migratePg(pool)
  const stopping = new AbortController()
  const node = opening.use(await joinNodes(pool, version))
  opening.use(
    repeat(
      SECOND_MS,
      () => node.beat().then(() => {}),
      (error) => onError(error, BEAT),
    ),
  )
  opening.defer(() => stopping.abort())
  const engine = createPgEngine(pool)
  const queries = createQueries(engine.execute)
  const keyRings = opening.use(new AsyncDisposableStack())
  const opened = { meterStore: await openPgMeterStore(pool, (error) => onError(error, COUNTS)) }
  const closing = opening.move()
  return {
    db: Object.assign(queries, { engine }),
    shortReads: queries,
    longReads: queries,
    writeUses: createPgUses({ pool, node: node.id, signal: stopping.signal }),
    ...opened,
    openKeys: async (plans, onKeyError) =>
      keyRings.use(
        await openPgKeyRing({
          pool,
          engine,
          plans,
          onError: onKeyError,
          onRevision: node.acknowledge,
          waitForOthers: node.waitForAll,
        }),
      ),
    rum,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

const BEAT = 'cannot tell the other nodes that this one is alive'
const COUNTS = 'cannot read the counts of a user; they are completed later'
