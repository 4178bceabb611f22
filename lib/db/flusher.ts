import type { Db } from './open.ts'
import { withoutWaiting } from './without-waiting.ts'

/** Something in memory that is to be written, once for all that happened to it since. */
export interface Unwritten {
  /** Writes it, in a transaction that may fail as a whole. */
  write(): void
  /** Told once the transaction is committed, before anything else can happen. */
  written(): void
}

/** Writes what changes often: not each change, but once a second all that has changed. */
export interface Flusher {
  /** Has `item` written with the next flush. To be called once until it is written. */
  add(item: Unwritten): void
  /** How many items wait. */
  size(): number
  /** Milliseconds for which something has waited at most; 0: nothing waits. */
  lagMs(): number
  /** Writes what waits, in transactions between which others may run. */
  flush(): Promise<void>
  /** Writes the first of what waits, in one transaction. */
  flushChunk(): void
  /** Writes what waits before it returns. Throws where that fails. */
  flushNow(): void
}

/** A transaction takes no more items after this; its commit takes several times as long. */
const CHUNK_MS = 1
const ITEMS_BETWEEN_LOOKS = 10

/**
 * Items are written in chunks of one transaction each, so that no one waits long for the next
 * request. A chunk that fails stays, whole: it is neither lost nor written twice.
 */
export function createFlusher(db: Db): Flusher {
  let waiting: Unwritten[] = []
  /** Items before this one are written. */
  let next = 0
  /** Monotonic milliseconds: nothing that waits came before. */
  let since = 0

  const writeChunk = db.$client.transaction(() => {
    const end = performance.now() + CHUNK_MS
    let at = next
    while (at < waiting.length) {
      waiting[at]?.write()
      at += 1
      if (at % ITEMS_BETWEEN_LOOKS === 0 && performance.now() > end) break
    }
    return at
  })
  const flushChunk = () => {
    const end = withoutWaiting(db, () => writeChunk.immediate())
    for (; next < end; next++) waiting[next]?.written()
    if (next < waiting.length) return
    waiting = []
    next = 0
  }
  const size = () => waiting.length - next
  return {
    add: (item) => {
      if (size() === 0) since = performance.now()
      waiting.push(item)
    },
    size,
    lagMs: () => (size() === 0 ? 0 : performance.now() - since),
    flush: async () => {
      const startedAt = performance.now()
      // What comes in meanwhile waits for the next time.
      for (let left = size(); left > 0 && size() > 0; ) {
        const before = size()
        flushChunk()
        left -= before - size()
        await new Promise((resolve) => setImmediate(resolve))
      }
      since = Math.max(since, startedAt)
    },
    flushChunk,
    flushNow: () => {
      while (size() > 0) flushChunk()
    },
  }
}
