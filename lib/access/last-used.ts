import type { Db } from '../db/open.ts'
import { withPatience } from '../db/patience.ts'
import { repeat } from '../periodic.ts'
import type { KeyRecord } from './key-records.ts'

/** When keys were last used, to the second: kept in memory, and written once a second. */
export interface LastUsed extends Disposable {
  /** Notes that the key was used. */
  touch(key: KeyRecord, now: number): void
  /** The last use that is not written yet, epoch milliseconds; undefined: none. */
  unwritten(keyId: string): number | undefined
  /** Writes what is not written yet in one transaction. Where that fails, nothing is lost. */
  flush(): void
}

const SECOND_MS = 1_000
const FLUSH_INTERVAL_MS = 1_000

/** A flush that waits for another process that writes keeps requests waiting: the next one will do. */
const PATIENCE_MS = 50

const WRITE = 'UPDATE api_keys SET last_used_at = ? WHERE id = ? AND coalesce(last_used_at, 0) < ?'

/** Flushes once a second and when it is disposed of. `onError` is told of flushes that fail. */
export function openLastUsed(db: Db, onError: (error: unknown) => void): LastUsed {
  const pending = new Map<string, number>()
  const update = db.$client.prepare<[number, string, number]>(WRITE)
  const write = db.$client.transaction(() => {
    for (const [keyId, usedAt] of pending) update.run(usedAt, keyId, usedAt)
  })
  const flush = () => {
    if (pending.size === 0) return
    write.immediate()
    pending.clear()
  }
  const flushing = repeat(FLUSH_INTERVAL_MS, () => withPatience(db, PATIENCE_MS, flush), onError)
  return {
    touch: (key, now) => {
      if (now - key.lastUsedAt < SECOND_MS) return
      const second = now - (now % SECOND_MS)
      key.lastUsedAt = second
      pending.set(key.id, Math.max(second, pending.get(key.id) ?? 0))
    },
    unwritten: (keyId) => pending.get(keyId),
    flush,
    [Symbol.dispose]: () => {
      flushing[Symbol.dispose]()
      try {
        flush()
      } catch (error) {
        onError(error)
      }
    },
  }
}
