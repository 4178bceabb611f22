import { setImmediate as nextTurn } from 'node:timers/promises'
import { withoutWaiting } from './engine.ts'
import type { Db } from './open.ts'

/** A value in memory that changed since it was last written. */
export interface Unwritten {
  /** Writes the value, within a transaction that may still fail. */
  write(): void
  /** Called right after the commit, before any other code runs. */
  written(): void
}

/** Writes frequently changing values in groups, not at every change. */
export type Flusher = ReturnType<typeof createFlusher>

/** Time limit for the writes of one transaction; its commit takes several times as long. */
const CHUNK_MS = 1
const ITEMS_PER_CLOCK_CHECK = 10

/**
 * Writes items in chunks, one short transaction each, so that requests do not wait long. A chunk that
 * fails stays queued as a whole: nothing is lost or written twice.
 */
export function createFlusher(db: Db) {
  let waiting: Unwritten[] = []
  /** Index of the first unwritten item. */
  let next = 0
  /** Monotonic milliseconds; no queued item is older. */
  let since = 0

  const writeChunk = db.$client.transaction(() => {
    const end = performance.now() + CHUNK_MS
    let at = next
    while (at < waiting.length) {
      waiting[at]?.write()
      at += 1
      if (at % ITEMS_PER_CLOCK_CHECK === 0 && performance.now() > end) break
    }
    return at
  })
  const flushChunk = () => {
    const end = withoutWaiting(db.$client, () => writeChunk.immediate())
    for (; next < end; next++) waiting[next]?.written()
    if (next < waiting.length) return
    waiting = []
    next = 0
  }
  const size = () => waiting.length - next
  return {
    /** Queues `item` for the next flush. Add it again only after `written` was called. */
    add: (item: Unwritten) => {
      if (size() === 0) since = performance.now()
      waiting.push(item)
    },
    /** Number of queued items. */
    size,
    /** Upper bound of the time that an item has waited, in milliseconds; 0 if the queue is empty. */
    lagMs: () => (size() === 0 ? 0 : performance.now() - since),
    /** Writes the queue in several transactions and lets other work run between them. */
    flush: async () => {
      const startedAt = performance.now()
      // A transaction of the engine may be open; it ends within this turn.
      await nextTurn()
      // Items that are added meanwhile wait for the next flush.
      for (let left = size(); left > 0 && size() > 0; ) {
        const before = size()
        flushChunk()
        left -= before - size()
        await nextTurn()
      }
      since = Math.max(since, startedAt)
    },
    /** Writes the first items of the queue in one transaction. */
    flushChunk,
    /** Writes the whole queue before it returns. Throws if that fails. */
    flushNow: () => {
      while (size() > 0) flushChunk()
    },
  }
}
