import type { Connection } from '../../db/connection.ts'
import { withoutWaiting } from '../../db/engine.ts'

/** A value in memory that changed since it was last written. */
export interface Write {
  /** Writes the value, within a transaction that may still fail. */
  write(): void
  /** Called right after the commit, before any other code runs. */
  written(): void
}

export type WriteQueue = ReturnType<typeof createWriteQueue>

/** Time limit for the writes of one transaction; its commit takes several times as long. */
const CHUNK_MS = 1
const ITEMS_PER_CLOCK_CHECK = 10

/**
 * Writes items in chunks, one short transaction each, so that requests do not wait long. A chunk that
 * fails stays queued as a whole: nothing is lost or written twice.
 */
export function createWriteQueue(db: Connection) {
  let waiting: Write[] = []
  /** Index of the first unwritten item. */
  let next = 0

  const writeItems = db.$client.transaction(() => {
    const end = performance.now() + CHUNK_MS
    let at = next
    while (at < waiting.length) {
      waiting[at]?.write()
      at += 1
      if (at % ITEMS_PER_CLOCK_CHECK === 0 && performance.now() > end) break
    }
    return at
  })
  const writeChunk = () => {
    const end = withoutWaiting(db.$client, () => writeItems.immediate())
    for (; next < end; next++) waiting[next]?.written()
    if (next < waiting.length) return
    waiting = []
    next = 0
  }
  const size = () => waiting.length - next
  return {
    /** Queues `item`. Add it again only after `written` was called. */
    add: (item: Write) => {
      waiting.push(item)
    },
    /** Number of queued items. */
    size,
    /** Writes the first items of the queue in one transaction. */
    writeChunk,
    /** Writes the whole queue before it returns. Throws if that fails. */
    writeAll: () => {
      while (size() > 0) writeChunk()
    },
  }
}
