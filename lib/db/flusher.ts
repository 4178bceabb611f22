import type { Connection } from './client.ts'
import { withoutWaiting } from './engine.ts'

/** A value in memory that changed since it was last written. */
export interface Unwritten {
  /** Writes the value, within a transaction that may still fail. */
  write(): void
  /** Called right after the commit, before any other code runs. */
  written(): void
}

export type Flusher = ReturnType<typeof createFlusher>

/** Time limit for the writes of one transaction; its commit takes several times as long. */
const CHUNK_MS = 1
const ITEMS_PER_CLOCK_CHECK = 10

/**
 * Writes items in chunks, one short transaction each, so that requests do not wait long. A chunk that
 * fails stays queued as a whole: nothing is lost or written twice.
 */
export function createFlusher(db: Connection) {
  let waiting: Unwritten[] = []
  /** Index of the first unwritten item. */
  let next = 0

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
    /** Queues `item`. Add it again only after `written` was called. */
    add: (item: Unwritten) => {
      waiting.push(item)
    },
    /** Number of queued items. */
    size,
    /** Writes the first items of the queue in one transaction. */
    flushChunk,
    /** Writes the whole queue before it returns. Throws if that fails. */
    flushNow: () => {
      while (size() > 0) flushChunk()
    },
  }
}
