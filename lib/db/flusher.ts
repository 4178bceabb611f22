import type { Db } from './open.ts'

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
  /** Writes what waits, in transactions between which others may run. */
  flush(): Promise<void>
  /** Writes what waits before it returns. Throws where that fails. */
  flushNow(): void
}

/** About five milliseconds of work. */
const CHUNK = 500

/**
 * Items are written in chunks of one transaction each, so that no one waits long for the next
 * request. A chunk that fails stays, whole: it is neither lost nor written twice.
 */
export function createFlusher(db: Db): Flusher {
  let waiting: Unwritten[] = []

  const writeChunk = db.$client.transaction((chunk: readonly Unwritten[]) => {
    for (const item of chunk) item.write()
  })
  const flushChunk = () => {
    const chunk = waiting.slice(0, CHUNK)
    withoutWaiting(db, () => writeChunk.immediate(chunk))
    waiting = waiting.slice(chunk.length)
    for (const item of chunk) item.written()
  }
  const flushNow = () => {
    while (waiting.length > 0) flushChunk()
  }
  return {
    add: (item) => {
      waiting.push(item)
    },
    size: () => waiting.length,
    flush: async () => {
      // What comes in meanwhile waits for the next time.
      for (let left = waiting.length; left > 0; left -= CHUNK) {
        flushChunk()
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
    flushNow,
  }
}

/** A database that another process has locked is tried again later: to wait would stop everything. */
function withoutWaiting({ $client }: Db, work: () => void): void {
  const before = $client.pragma('busy_timeout', { simple: true })
  $client.pragma('busy_timeout = 0')
  try {
    work()
  } finally {
    $client.pragma(`busy_timeout = ${before}`)
  }
}
