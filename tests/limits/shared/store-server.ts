import { createPgBucketStore } from '../../../lib/limits/buckets/pg-bucket-store.ts'
import type { BucketStore } from '../../../lib/limits/buckets/shared-bucket.ts'
import { migratePg } from '../../../lib/postgres/migrate.ts'
import {
  lockTable,
  openTestPool,
  query,
  startPostgres,
} from '../../support/database/postgres-server.ts'
import { openServerDatabase, type TestDatabase } from '../../support/database/test-database.ts'
import { NODES } from './nodes.ts'

interface StoreOptions {
  readonly now: () => number
  readonly onError: (error: unknown, message: string) => void
}

/** A PostgreSQL server through which nodes share buckets, and what may happen to it. */
export interface StoreServer extends AsyncDisposable {
  /** Empties it. Call it before each test. */
  empty(): Promise<void>
  /** The buckets as one of three nodes sees them. */
  open(options: StoreOptions): BucketStore
  /** The database of a service; all of one test have the same. */
  openDatabase(): Promise<TestDatabase>
  /** Stops it from answering, although its connections stay open. */
  pause(): Promise<void>
  resume(): Promise<void>
  /** Ends it at once: it forgets the buckets. */
  stop(): Promise<void>
  start(): Promise<void>
}

/** The version of nodes that are only counted. */
const NO_SERVICE = 'none'

export async function startStore(): Promise<StoreServer> {
  const server = await startPostgres({ fsync: 'off' })
  let opened = new AsyncDisposableStack()
  let url = ''
  let lock: AsyncDisposable | undefined
  return {
    empty: async () => {
      await opened.disposeAsync()
      opened = new AsyncDisposableStack()
      url = await server.createDatabase()
      const pool = opened.use(openTestPool(url))
      await migratePg(pool)
      const node = `(gen_random_uuid(), '${NO_SERVICE}', -1, now_ms(), now_ms())`
      await query(
        url,
        `INSERT INTO nodes (id, version, revision, started_at, seen_at)
         VALUES ${Array(NODES).fill(node).join()}`,
      )
    },
    open: (options) => createPgBucketStore({ pool: opened.use(openTestPool(url)), ...options }),
    openDatabase: async () => {
      await query(url, `DELETE FROM nodes WHERE version = '${NO_SERVICE}'`)
      return openServerDatabase(url)
    },
    pause: async () => {
      lock = await lockTable(url, 'buckets')
    },
    resume: async () => {
      await lock?.[Symbol.asyncDispose]()
    },
    stop: server.stop,
    start: server.start,
    [Symbol.asyncDispose]: async () => {
      await opened.disposeAsync()
      await server[Symbol.asyncDispose]()
    },
  }
}
