import type { Plans } from '../../config/plans.ts'
import type { Engine } from '../../db/engine.ts'
import { SECOND_MS } from '../../parts/durations.ts'
import { ApiError } from '../../parts/errors.ts'
import { repeat } from '../../parts/repeat.ts'
import {
  type Channels,
  type PgConnection,
  type PgPool,
  QUICK_MS,
} from '../../postgres/connection.ts'
import { shareRuns } from '../../postgres/nodes/share-runs.ts'
import { isKeyText } from '../api-key.ts'
import { createFindKey } from './find-key.ts'
import {
  createKeyIndex,
  KEY_COLUMNS,
  type KeyIndex,
  SELECT_KEYS,
  type StoredKey,
} from './key-records.ts'
import type { KeyRing } from './key-ring.ts'

export interface KeyRingOptions {
  readonly pool: PgPool
  readonly engine: Engine
  readonly plans: Plans
  readonly onError: (error: unknown) => void
  /** How long keys are accepted after this node last managed to read their changes. */
  readonly staleMs: number
  /** Called once all changes up to the revision have taken effect here. */
  readonly onRevision?: (revision: number) => Promise<void>
  /** What else to listen to. */
  readonly channels?: Channels
  /**
   * Waits until the other nodes have applied the changes that are committed by now, or for a moment. Returns
   * the newest revision. By default, there are no other nodes.
   */
  readonly waitForOthers?: () => Promise<number>
}

const PAGE = 10_000
const MAX_CHANGES = 50_000
/** Twice the longest pause between two reads of changes. */
const FRESH_MS = 2 * SECOND_MS

/**
 * Loads all keys. PostgreSQL notifies each node of the changes of the others once they are committed. In
 * case a notification is lost, the node also asks once a second.
 */
export async function openPgKeyRing(options: KeyRingOptions): Promise<KeyRing & AsyncDisposable> {
  const { pool, plans, onError, staleMs, onRevision } = options
  const { waitForOthers = async () => (await pool.use(readLatest, QUICK_MS)).newest } = options
  const reads = trackReads(staleMs)
  const loaded = await loadKeys(pool, plans)
  const { find, forgetTexts, onChange } = createFindKey(loaded.find)

  const update = async (): Promise<void> => {
    const askedAt = performance.now()
    const { isChanged, isComplete } = await loaded.update()
    if (isChanged) forgetTexts()
    if (isComplete) reads.succeeded(askedAt)
    // Each time, because the node may have got a new id since the last one.
    await onRevision?.(loaded.revision())
    if (!isComplete) await update()
  }
  const runs = shareRuns(update)
  const heard = () => void runs.run().catch(onError)
  await using opening = new AsyncDisposableStack()
  opening.use(await pool.listen({ ...options.channels, access_changes: heard }))
  opening.use(repeat(SECOND_MS, runs.run, onError))
  await runs.run()
  // Changes committed before our first acknowledgement did not wait for us: read once more.
  await runs.run()
  const opened = opening.move()

  const changeBy = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = await work()
    const changed = await waitForOthers()
    // By now, the notice has most probably arrived here, too.
    await runs.until(() => loaded.revision() >= changed)
    return result
  }
  return {
    find: (text, now) => {
      if (!reads.isCurrent()) throw new ApiError('SERVICE_UNAVAILABLE', STALE)
      const key = find(text, now)
      if (key === null && isKeyText(text) && !reads.isFresh()) {
        throw new ApiError('SERVICE_UNAVAILABLE', STALE)
      }
      return key
    },
    isCurrent: reads.isCurrent,
    onChange,
    size: loaded.size,
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
    /** Whether a key that is unknown here is no key: one that another node has just made would be known. */
    isFresh: () => performance.now() - askedAt <= FRESH_MS,
  }
}

/** Loads all keys. `update` keeps them up to date. */
async function loadKeys(pool: PgPool, plans: Plans) {
  let index = createKeyIndex(plans)
  let revision = 0
  let server = 0
  const load = () =>
    pool.use(async (connection) => {
      // Read before the keys, so that keys that change while they load are read again.
      const latest = await readLatest(connection)
      const loaded = createKeyIndex(plans)
      await loadAll(connection, loaded)
      index = loaded
      revision = latest.newest
      server = latest.server
    })
  await load()
  return {
    find: (hash: string) => index.find(hash),
    size: () => index.size(),
    /** All changes up to this one are applied. */
    revision: () => revision,
    /** Applies the next changes. Returns whether there were any, and whether those were all. */
    update: async () => {
      const read = (connection: PgConnection) => readChanges(connection, revision)
      const changes = await pool.use(read, QUICK_MS)
      // Another server, such as a promoted standby, or a restored backup may lack changes that are in memory.
      if (changes.server !== server || changes.newest < revision) {
        await load()
        return { isChanged: true, isComplete: true }
      }
      const { userIds, keys, last } = changes
      index.replace(userIds, keys)
      revision = last
      return { isChanged: userIds.length > 0, isComplete: userIds.length < MAX_CHANGES }
    },
  }
}

/**
 * The newest revision, and when the server started: a promoted standby started at another time than the lost
 * primary. The timeline would also differ, but it cannot be read during recovery, nor on Amazon Aurora.
 */
const LATEST = `
  SELECT coalesce(max(revision), 0) AS newest, extract(epoch FROM pg_postmaster_start_time()) AS server
  FROM access_changes`

async function readLatest(connection: PgConnection) {
  const { rows } = await connection.query(LATEST)
  return { newest: Number(rows[0]?.[0]), server: Number(rows[0]?.[1]) }
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
 * Reads `LATEST`, and the changes after $1, oldest first, each with the keys of its user. OFFSET 0
 * makes PostgreSQL look for the keys user by user: any other plan is slow until it has analysed the tables.
 */
const READ_CHANGES = `
  SELECT latest.newest, latest.server, changes.user_id, changes.revision, keys.*
  FROM (${LATEST}) AS latest
  LEFT JOIN (
    SELECT user_id, revision FROM access_changes WHERE revision > $1
    ORDER BY revision LIMIT ${MAX_CHANGES}
  ) AS changes ON TRUE
  LEFT JOIN LATERAL (${SELECT_KEYS} WHERE api_keys.user_id = changes.user_id OFFSET 0) AS keys ON TRUE
  ORDER BY changes.revision`

async function readChanges(connection: PgConnection, revision: number) {
  const { rows } = await connection.query(READ_CHANGES, [revision])
  return {
    newest: Number(rows[0]?.[0]),
    server: Number(rows[0]?.[1]),
    // Without changes, there is one row, without a user.
    userIds: [...new Set(rows.flatMap(([, , user]) => (user === null ? [] : [String(user)])))],
    last: Number(rows.at(-1)?.[3] ?? revision),
    // A user without keys has one row, without a hash.
    keys: rows.flatMap(([, , , , ...key]) => (key[0] === null ? [] : [toKey(key)])),
  }
}

function toKey(row: readonly unknown[]): StoredKey {
  // safe: the columns of the statement, which has the names in this order
  return Object.fromEntries(KEY_COLUMNS.map((name, at) => [name, row[at]])) as unknown as StoredKey
}
