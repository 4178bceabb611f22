import type { Db } from '../db/open.ts'
import type { Unwritten, UseFlusher } from '../db/use-flusher.ts'
import type { Uses } from '../db/uses.ts'
import { SECOND_MS } from '../durations.ts'
import type { KeyRecord } from './key-records.ts'
import { type KeyRow, listKeys } from './keys.ts'

/** When each key was last used, to the second. Kept in memory, and written with the counters. */
export type LastUsed = ReturnType<typeof createLastUsed>

/** `write` queues an item to be written: see `UseFlusher.add`. */
export function createLastUsed(write: (item: Unwritten) => void) {
  const unwritten = new Map<string, LastUse>()
  return {
    /** Records that the key was used. */
    touch: (key: Pick<KeyRecord, 'id' | 'lastUsedAt'>, now: number) => {
      if (now - key.lastUsedAt < SECOND_MS) return
      const second = now - (now % SECOND_MS)
      key.lastUsedAt = second
      const waiting = unwritten.get(key.id)
      if (waiting !== undefined) {
        waiting.usedAt = Math.max(second, waiting.usedAt)
        return
      }
      const use = new LastUse(key.id, second, { write, unwritten })
      unwritten.set(key.id, use)
      write(use)
    },
    /** The last use that is not written yet, in epoch milliseconds; undefined if there is none. */
    unwritten: (keyId: string) => unwritten.get(keyId)?.usedAt,
  }
}

interface LastUseOptions {
  readonly write: (item: Unwritten) => void
  /** By the id of the key. */
  readonly unwritten: Map<string, LastUse>
}

/** The last use of a key that is not written yet. */
class LastUse implements Unwritten {
  /** Epoch milliseconds. */
  usedAt: number
  readonly #keyId: string
  readonly #options: LastUseOptions
  #inFlight = 0

  constructor(keyId: string, usedAt: number, options: LastUseOptions) {
    this.#keyId = keyId
    this.usedAt = usedAt
    this.#options = options
  }

  collect({ keys }: Uses): void {
    this.#inFlight = this.usedAt
    keys.push({ keyId: this.#keyId, usedAt: this.usedAt })
  }

  written(): void {
    if (this.usedAt === this.#inFlight) this.#options.unwritten.delete(this.#keyId)
    else this.#options.write(this)
  }

  notWritten(): void {
    this.#options.write(this)
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
