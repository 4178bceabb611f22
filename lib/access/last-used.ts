import type { Db } from '../db/open.ts'
import { tablePageOf, type Unwritten, type UseFlusher } from '../db/use-flusher.ts'
import type { KeyUse, Uses } from '../db/uses.ts'
import { MINUTE_MS, SECOND_MS } from '../durations.ts'
import type { KeyRecord } from './key-records.ts'
import { type KeyRow, listKeys } from './keys.ts'

/** When each key was last used, exact to a minute. Kept in memory, and written with the counters. */
export type LastUsed = ReturnType<typeof createLastUsed>

/** `write` queues an item to be written: see `UseFlusher.add`. */
export function createLastUsed(write: (item: Unwritten) => void) {
  const unwritten: UnwrittenTimes = new Map()
  let group: LastUses | undefined
  return {
    /** Records that the key was used. Writes it once a minute: each second, it would be a third of all rows. */
    touch: (key: Pick<KeyRecord, 'id' | 'lastUsedAt'>, now: number) => {
      if (now - key.lastUsedAt < MINUTE_MS) return
      const second = now - (now % SECOND_MS)
      key.lastUsedAt = second
      const waiting = unwritten.get(key.id)
      unwritten.set(key.id, Math.max(second, waiting ?? 0))
      if (waiting === undefined) add(key.id)
    },
    /** The last use that is not written yet, in epoch milliseconds; undefined if there is none. */
    unwritten: (keyId: string) => unwritten.get(keyId),
  }
  function add(keyId: string): void {
    if (group?.hasRoom !== true) group = new LastUses(unwritten, add, tablePageOf(keyId))
    if (group.add(keyId) === 1) write(group)
  }
}

/** When keys were last used, in epoch milliseconds, by the id of the key. */
type UnwrittenTimes = Map<string, number>

/** Small, because a transaction writes whole groups. */
const GROUP = 100

/** The last uses of several keys, written together: one item for each key would take more time and memory. */
class LastUses implements Unwritten {
  /** Any place will do, because the keys of a group are spread over the whole table. */
  readonly place: number
  readonly #unwritten: UnwrittenTimes
  readonly #addAgain: (keyId: string) => void
  readonly #keyIds: string[] = []
  /** What is being written, in the order of the keys; undefined: nothing was collected yet. */
  #inFlight: readonly KeyUse[] | undefined

  constructor(unwritten: UnwrittenTimes, addAgain: (keyId: string) => void, place: number) {
    this.#unwritten = unwritten
    this.#addAgain = addAgain
    this.place = place
  }

  get hasRoom(): boolean {
    return this.#inFlight === undefined && this.#keyIds.length < GROUP
  }

  /** Returns the number of keys. */
  add(keyId: string): number {
    return this.#keyIds.push(keyId)
  }

  collect({ keys }: Uses): void {
    this.#inFlight = this.#keyIds.map((keyId) => ({
      keyId,
      usedAt: this.#unwritten.get(keyId) ?? 0,
    }))
    keys.push(...this.#inFlight)
  }

  written(): void {
    for (const { keyId, usedAt } of this.#inFlight ?? []) {
      if (this.#unwritten.get(keyId) === usedAt) this.#unwritten.delete(keyId)
      else this.#addAgain(keyId)
    }
  }

  notWritten(): void {
    for (const keyId of this.#keyIds) this.#addAgain(keyId)
  }
}

interface LastUseSources {
  readonly db: Db
  readonly flusher: UseFlusher
  readonly lastUsed: LastUsed
}

/** Like `listKeys`, but includes last uses that are not written yet. */
export function listKeysWithLastUse({ db, flusher, lastUsed }: LastUseSources, userId: string) {
  // A use that is written after the rows were read would be neither in them nor unwritten.
  return flusher.betweenFlushes(async (): Promise<KeyRow[]> => {
    const keys = await listKeys(db, userId)
    return keys.map((key) => ({
      ...key,
      lastUsedAt: lastUsed.unwritten(key.id) ?? key.lastUsedAt,
    }))
  })
}
