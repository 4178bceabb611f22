import { createFindKey } from '../access/find-key.ts'
import {
  createKeyIndex,
  KEY_COLUMNS,
  type KeyIndex,
  SELECT_KEYS,
  type StoredKey,
} from '../access/key-records.ts'
import type { KeyRing } from '../access/key-ring.ts'
import type { Plans } from '../config/plans.ts'
import type { Engine } from '../db/engine.ts'
import { SECOND_MS } from '../durations.ts'
import { ApiError } from '../errors.ts'
import { repeat } from '../periodic.ts'
import { type PgConnection, type PgPool, SOON_MS } from './connection.ts'
import { shareRuns } from './nodes/share-runs.ts'

export interface KeyRingOptions {
  readonly pool: PgPool
  readonly engine: Engine
  readonly plans: Plans
  readonly onError: (error: unknown) => void
  /** How long keys are accepted after this node last managed to read their changes. */
  readonly staleMs: number
  /** Called once all changes up to the revision have taken effect here. */
  readonly onRevision?: (revision: number) => Promise<void>
  /** Waits until the other nodes have taken over the changes up to the revision, or for a moment. */
  readonly waitForOthers?: (revision: number) => Promise<void>
}

const PAGE = 10_000
const MAX_CHANGES = 50_000

/**
 * Loads all keys. PostgreSQL notifies each node of the changes of the others once they are committed. In
 * case a notification is lost, the node also asks once a second.
 */
export async function openPgKeyRing(options: KeyRingOptions): Promise<KeyRing & AsyncDisposable> {
  const { pool, plans, onError, staleMs, onRevision, waitForOthers } = options
  const index = createKeyIndex(plans)
  const { find, forgetTexts, onChange } = createFindKey(index.find)
  // Read before the keys, so that keys that change while they load are read again.
  let revision = await pool.use(readRevision)
  const reads = trackReads(staleMs)
  await pool.use((connection) => loadAll(connection, index))

  const update = async (): Promise<void> => {
    const askedAt = performance.now()
    const { changes, rows } = await readChanges(pool, revision)
    const last = changes.at(-1)
    if (last !== undefined) {
      const userIds = changes.map(({ userId }) => userId)
      index.replace(userIds, rows)
      forgetTexts()
      revision = last.revision
    }
    if (changes.length < MAX_CHANGES) reads.succeeded(askedAt)
    // Each time, because the node may have got a new id since the last one.
    await onRevision?.(revision)
    if (changes.length === MAX_CHANGES) await update()
  }
  const runs = shareRuns(update)
  const heard = () => void runs.run().catch(onError)
  await using opening = new AsyncDisposableStack()
  opening.use(await pool.listen('access_changes', heard))
  opening.use(repeat(SECOND_MS, runs.run, onError))
  await runs.run()
  const opened = opening.move()

  const newest = shareRuns(() => pool.use(readRevision, SOON_MS))
  const changeBy = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = await work()
    const changed = await newest.run()
    await Promise.all([runs.until(() => revision >= changed), waitForOthers?.(changed)])
    return result
  }
  return {
    find: (text, now) => {
      if (!reads.isCurrent()) throw new ApiError('SERVICE_UNAVAILABLE', STALE)
      return find(text, now)
    },
    isCurrent: reads.isCurrent,
    onChange,
    lookForChanges: () => {},
    size: index.size,
    change: ([first, ...rest]) =>
      changeBy(() =>
        options.engine.runUnit([first.toSQL(), ...rest.map((statement) => statement.toSQL())]),
      ),
    changeBy,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

const STALE = 'API keys cannot be checked now; try again later'

/** Remembers when this node last knew all changes. */
function trackReads(staleMs: number) {
  /** When the last successful read began, in monotonic milliseconds. */
  let askedAt = performance.now()
  return {
    succeeded: (at: number) => {
      askedAt = at
    },
    isCurrent: () => performance.now() - askedAt <= staleMs,
  }
}

async function readRevision(connection: PgConnection): Promise<number> {
  const { rows } = await connection.query('SELECT coalesce(max(revision), 0) FROM access_changes')
  return Number(rows[0]?.[0])
}

async function loadAll(connection: PgConnection, index: KeyIndex): Promise<void> {
  const sql = `${SELECT_KEYS} WHERE hash > $1 ORDER BY hash LIMIT ${PAGE}`
  for (let after: string | undefined = ''; after !== undefined; ) {
    const { rows } = await connection.query(sql, [after])
    const keys = rows.map(toKey)
    for (const key of keys) index.add(key)
    after = keys.length < PAGE ? undefined : keys.at(-1)?.hash
  }
}

/**
 * Returns the changes after the revision, oldest first, and the keys of their users, which may be newer. Two
 * plain statements are always quick; a join of both is not until PostgreSQL has analysed the tables.
 */
function readChanges(pool: PgPool, revision: number) {
  const read = async (connection: PgConnection) => {
    const { rows } = await connection.query(
      `SELECT user_id, revision FROM access_changes WHERE revision > $1
       ORDER BY revision LIMIT ${MAX_CHANGES}`,
      [revision],
    )
    const changes = rows.map(([userId, changed]) => ({
      userId: String(userId),
      revision: Number(changed),
    }))
    if (changes.length === 0) return { changes, rows: [] }
    const userIds = changes.map(({ userId }) => userId)
    const sql = `${SELECT_KEYS} WHERE api_keys.user_id = ANY($1)`
    return { changes, rows: (await connection.query(sql, [userIds])).rows.map(toKey) }
  }
  return pool.use(read, SOON_MS)
}

function toKey(row: readonly unknown[]): StoredKey {
  // safe: the columns of the statement, which has the names in this order
  return Object.fromEntries(KEY_COLUMNS.map((name, at) => [name, row[at]])) as unknown as StoredKey
}
