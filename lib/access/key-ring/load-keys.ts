import type { Plans } from '../../config/plans.ts'
import type { SqliteDb } from '../../db/open.ts'
import { SECOND_MS } from '../../parts/durations.ts'
import { createKeyIndex, type KeyRecord, SELECT_KEYS, type StoredKey } from './key-records.ts'

/** Keys per slice. Reading a slice takes about a millisecond. */
const SLICE = 200
const RETRY_MS = SECOND_MS

/**
 * Loads the keys in slices, one in each turn of the event loop, because a million keys take seconds.
 * Until all are loaded, `find` reads a missing key from the database. Failures go to `onError`.
 */
export function loadKeyRecords(db: SqliteDb, plans: Plans, onError: (error: unknown) => void) {
  const read = createReader(db)
  const index = createKeyIndex(plans)
  // Read before the keys, so that `update` reads again every key that changes while they load.
  let revision = read.revision()
  let lastLoaded = ''
  let isComplete = false
  const loadSlice = () => {
    const rows = read.slice(lastLoaded)
    for (const row of rows) if (index.find(row.hash) === undefined) index.add(row)
    lastLoaded = rows.at(-1)?.hash ?? lastLoaded
    isComplete = rows.length < SLICE
    if (!isComplete) setImmediate(loadNextSlice)
  }
  const loadNextSlice = () => {
    if (!db.$client.open) return
    try {
      loadSlice()
    } catch (error) {
      onError(error)
      setTimeout(loadNextSlice, RETRY_MS).unref()
    }
  }
  loadSlice()
  const readKey = (hash: string) => {
    try {
      const row = read.key(hash)
      return row === undefined ? undefined : index.add(row)
    } catch (error) {
      onError(error)
      return undefined
    }
  }
  return {
    find: (hash: string): KeyRecord | undefined =>
      index.find(hash) ?? (isComplete ? undefined : readKey(hash)),
    /** The number of keys that are loaded. */
    size: index.size,
    /** Reloads the keys of users whose access changed since the last read. Returns whether any did. */
    update: () => {
      const { changes, rows } = read.since(revision)
      const [latest] = changes
      if (latest === undefined) return false
      index.replace(
        changes.map(({ userId }) => userId),
        rows,
      )
      revision = latest.revision
      return true
    },
  }
}

const SLICE_OF_KEYS = `${SELECT_KEYS} WHERE hash > ? ORDER BY hash LIMIT ${SLICE}`

/** A subquery, because SQLite would scan all keys before a join that stands behind LEFT JOINs. */
export const CHANGED_KEYS = `${SELECT_KEYS}
  WHERE api_keys.user_id IN (SELECT user_id FROM access_changes WHERE revision > ?)`

/** Latest first. */
const CHANGES =
  'SELECT user_id AS userId, revision FROM access_changes WHERE revision > ? ORDER BY revision DESC'

function createReader({ $client }: SqliteDb) {
  const key = $client.prepare<[string], StoredKey>(`${SELECT_KEYS} WHERE hash = ?`)
  const slice = $client.prepare<[string], StoredKey>(SLICE_OF_KEYS)
  const changedKeys = $client.prepare<[number], StoredKey>(CHANGED_KEYS)
  const changes = $client.prepare<[number], { userId: string; revision: number }>(CHANGES)
  return {
    key: (hash: string) => key.get(hash),
    /** The next keys in the order of their hashes. */
    slice: (after: string) => slice.all(after),
    revision: () => changes.get(0)?.revision ?? 0,
    /** Reads keys and changes in one transaction, so that they match. */
    since: $client.transaction((revision: number) => {
      const changed = changes.all(revision)
      // Most writes change no keys.
      return { changes: changed, rows: changed.length === 0 ? [] : changedKeys.all(revision) }
    }),
  }
}
