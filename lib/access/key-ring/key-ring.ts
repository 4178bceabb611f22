import type { Plans } from '../../config/plans.ts'
import type { SqliteDb } from '../../db/open.ts'
import { runInTransaction, type Statement } from '../../db/transaction.ts'
import { createFindKey } from './find-key.ts'
import type { KeyRecord } from './key-records.ts'
import { loadKeyRecords } from './load-keys.ts'

/** All keys, in memory: requests are authenticated without reading the database. */
export type KeyRing = ReturnType<typeof openKeyRing>

/**
 * Loads the keys. The first `find` of each millisecond reads `data_version`, which shows whether another
 * connection has written, so a change by another process takes effect within a millisecond. Reading it takes
 * several microseconds, too long for every request of clients that open a connection for each. Failures go to
 * `onError`; known keys stay valid.
 */
export function openKeyRing(db: SqliteDb, plans: Plans, onError: (error: unknown) => void) {
  const readDataVersion = db.$client.prepare<[], number>('PRAGMA data_version').pluck()
  const records = loadKeyRecords(db, plans, onError)
  const { find, forgetTexts, onChange } = createFindKey(records.find)
  // Unknown at first: another process may have written since the keys were loaded.
  let dataVersion: number | undefined
  let checkedAt: number | undefined

  const reload = () => {
    try {
      const version = readDataVersion.get()
      if (version === dataVersion) return
      if (records.update()) forgetTexts()
      dataVersion = version
    } catch (error) {
      onError(error)
    }
  }
  // Resets the version, because a write of this connection does not change it. If the reload fails, the
  // next millisecond tries again.
  const changeBy = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = await work()
    dataVersion = undefined
    reload()
    return result
  }
  return {
    /** The record of the key; null if it is unknown or has expired at `now`, the time of the call. */
    find: (text: string, now: number): KeyRecord | null => {
      if (now !== checkedAt) {
        checkedAt = now
        reload()
      }
      return find(text, now)
    },
    /** Whether the keys are current enough to be accepted. Those of a file always are. */
    isCurrent: () => true,
    onChange,
    /** The number of keys that are loaded, including expired ones. */
    size: records.size,
    /**
     * Runs statements that change keys or plans in one transaction, and reloads the keys before it
     * resolves: the next request sees the change. Returns whether the first statement changed a row.
     */
    change: (statements: [Statement, ...Statement[]]) =>
      changeBy(() => runInTransaction(db, statements)),
    /** Runs `work`, which changes keys or plans in a transaction of its own, and reloads as `change` does. */
    changeBy,
  }
}
