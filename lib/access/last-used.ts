import type { Unwritten } from '../db/flusher.ts'
import type { Db } from '../db/open.ts'
import { SECOND_MS } from '../durations.ts'
import type { KeyRecord } from './key-records.ts'

/** When each key was last used, to the second: kept in memory and written with the counters. */
export type LastUsed = ReturnType<typeof createLastUsed>

const WRITE = 'UPDATE api_keys SET last_used_at = ? WHERE id = ? AND coalesce(last_used_at, 0) < ?'

/** `write` queues an item to be written: see `Flusher.add`. */
export function createLastUsed(db: Db, write: (item: Unwritten) => void) {
  const pending = new Map<string, number>()
  const update = db.$client.prepare<[number, string, number]>(WRITE)
  const addItem = (keyId: string) =>
    write({
      write: () => {
        const usedAt = pending.get(keyId) ?? 0
        update.run(usedAt, keyId, usedAt)
      },
      written: () => {
        pending.delete(keyId)
      },
    })
  return {
    /** Records that the key was used. */
    touch: (key: KeyRecord, now: number) => {
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
