import type { Db } from '../db/open.ts'
import { type Statement, unit } from '../db/unit.ts'
import type { Plans } from '../plans.ts'
import { hashKey, isKeyText } from './api-key.ts'
import { type KeyRecord, loadKeyRecords } from './key-records.ts'
import { isExpired } from './keys.ts'

/** All keys, in memory: a request is let in without a database read. */
export interface KeyRing {
  /** The record of a key that is known and has not expired at `now`. */
  find(text: string, now: number): KeyRecord | null
  /** How many keys there are, expired ones included. */
  size(): number
  /**
   * Runs statements that change keys or plans in one transaction, and takes the change over before
   * it returns: the next request meets it. Returns whether the first statement changed something.
   */
  change(statements: [Statement, ...Statement[]]): Promise<boolean>
}

/**
 * Loads the keys. What another process changes is met by the next request, too: `data_version`
 * tells in a microsecond whether another connection has written, and is read once in each turn of
 * the event loop that brings a request. `onError` is told where that fails; known keys stay good.
 */
export function openKeyRing(db: Db, plans: Plans, onError: (error: unknown) => void): KeyRing {
  const readDataVersion = db.$client.prepare<[], number>('PRAGMA data_version').pluck()
  const records = loadKeyRecords(db, plans)
  // Texts of known keys, and of no others: to check and hash a text takes longer than to find it.
  let byText = new Map<string, KeyRecord>()
  // Unknown at first: somebody may have written between the load and now.
  let dataVersion: number | undefined
  let looked = false

  const takeOver = () => {
    try {
      const version = readDataVersion.get()
      if (version === dataVersion) return
      if (records.update()) byText = new Map()
      dataVersion = version
    } catch (error) {
      onError(error)
    }
  }
  const endTurn = () => {
    looked = false
  }
  const look = () => {
    looked = true
    setImmediate(endTurn)
    takeOver()
  }
  const findByText = (text: string) => {
    if (!isKeyText(text)) return undefined
    const key = records.byHash.get(hashKey(text))
    if (key !== undefined) byText.set(text, key)
    return key
  }
  return {
    find: (text, now) => {
      if (!looked) look()
      const key = byText.get(text) ?? findByText(text)
      return key === undefined || isExpired(key, now) ? null : key
    },
    size: () => records.byHash.size,
    change: async (statements) => {
      const changed = await unit(db, statements)
      // Our own writes leave the version as it is. Should this fail, the next turn tries again.
      dataVersion = undefined
      takeOver()
      return changed
    },
  }
}
