import type { Db } from '../db/open.ts'
import type { Unwritten, UseFlusher } from '../db/use-flusher.ts'
import { SECOND_MS } from '../durations.ts'
import type { KeyRecord } from './key-records.ts'
import { type KeyRow, listKeys } from './keys.ts'

/** When each key was last used, to the second. Kept in memory, and written with the counters. */
export type LastUsed = ReturnType<typeof createLastUsed>

/** `write` queues an item to be written: see `UseFlusher.add`. */
export function createLastUsed(write: (item: Unwritten) => void) {
  const pending = new Map<string, number>()
  const addItem = (keyId: string) => {
    let inFlight = 0
    const item: Unwritten = {
      collect: ({ keys }) => {
        inFlight = pending.get(keyId) ?? 0
        keys.push({ keyId, usedAt: inFlight })
      },
      written: () => {
        if (pending.get(keyId) === inFlight) pending.delete(keyId)
        else write(item)
      },
      notWritten: () => write(item),
    }
    write(item)
  }
  return {
    /** Records that the key was used. */
    touch: (key: Pick<KeyRecord, 'id' | 'lastUsedAt'>, now: number) => {
      if (now - key.lastUsedAt < SECOND_MS) return
      const second = now - (now % SECOND_MS)
      key.lastUsedAt = second
      const waiting = pending.get(key.id)
      pending.set(key.id, Math.max(second, waiting ?? 0))
      if (waiting === undefined) addItem(key.id)
    },
    /** The last use that is not written yet, in epoch milliseconds; undefined if there is none. */
    unwritten: (keyId: string) => pending.get(keyId),
  }
}

interface UsedKeys {
  readonly db: Db
  readonly flusher: UseFlusher
  readonly lastUsed: LastUsed
}

/** The keys of a user as `listKeys` reads them, with last uses that are not written yet. */
export function listUsedKeys({ db, flusher, lastUsed }: UsedKeys, userId: string) {
  // A use that is written after the rows were read would be neither in them nor unwritten.
  return flusher.betweenFlushes(async (): Promise<KeyRow[]> => {
    const keys = await listKeys(db, userId)
    return keys.map((key) => ({
      ...key,
      lastUsedAt: lastUsed.unwritten(key.id) ?? key.lastUsedAt,
    }))
  })
}
