import { SECOND_MS } from '../durations.ts'
import { ApiError } from '../errors.ts'
import { inTimeOrFail } from '../in-time.ts'
import { retry } from '../periodic.ts'
import { createSerialQueue } from '../serial-queue.ts'
import type { CapNotice, PeriodTotal, Uses, WriteUses, Written } from './uses.ts'

/** A count in memory that changed since it was last written. */
export interface Unwritten {
  /** Items are written in the order of their places: see `tablePageOf`. */
  readonly place: number
  /** Adds its changes to the uses that will be written next. */
  collect(uses: Uses): void
  /** Called once the collected changes are on disk. */
  written(totals: Totals | undefined): void
  /** Called if the collected changes were not written: they must be collected again. */
  notWritten(): void
}

/** What all nodes have counted, by `periodId`. */
export type Totals = ReadonlyMap<string, PeriodTotal>

/** The key of a user's period in `Totals`. */
export function periodId({ userId, periodStart }: Pick<PeriodTotal, 'userId' | 'periodStart'>) {
  return `${periodStart} ${userId}`
}

/** Writes frequently changing counts in groups, not at every change. */
export type UseFlusher = ReturnType<typeof createUseFlusher>

/** How many places there are. */
const PLACES = 256

/**
 * Returns the place, from 0 to 255, of the rows of the user or key `id`, which begins with a hexadecimal
 * number; 0 for all others. Rows with the same place are close to each other in each table. A transaction
 * writes every page that it changes: rows in random order would change nearly as many pages as there are rows.
 */
export function tablePageOf(id: string): number {
  return /^[0-9a-f]{2}/.test(id) ? Number.parseInt(id.slice(0, 2), 16) : 0
}

/** Items of one transaction; in SQLite, more would keep other writes waiting for long. */
const CHUNK = 1_000

const LONGEST_WAIT_MS = 5 * SECOND_MS

/**
 * Collects and writes items in chunks, one transaction each. A chunk that fails stays queued as a
 * whole: nothing is lost or written twice. `announce` gets the notices of each chunk.
 */
export function createUseFlusher(
  write: WriteUses,
  announce: (notice: CapNotice) => void,
  itemsOfChunk: number = CHUNK,
) {
  const waiting = createQueue()
  /** How many items the running flush has yet to write. */
  let inFlight = 0
  /** No queued item is older than this time, in monotonic milliseconds. */
  let since = 0
  const inSeries = createSerialQueue()
  const stopping = new AbortController()

  const size = () => waiting.size() + inFlight
  const flushOnce = async () => {
    const startedAt = performance.now()
    // Items that are added meanwhile wait for the next flush.
    const items = waiting.takeAll()
    inFlight = items.length
    for (let at = 0; at < items.length; at += itemsOfChunk) {
      const chunk = items.slice(at, at + itemsOfChunk)
      try {
        const { notices } = await writeChunk(chunk, (uses) => write(uses, stopping.signal))
        notices.forEach(announce)
      } catch (error) {
        // First the others, so that a chunk that fails again does not keep them from being written.
        waiting.putBack(items.slice(at + itemsOfChunk))
        for (const item of chunk) item.notWritten()
        inFlight = 0
        throw error
      }
      inFlight -= chunk.length
    }
    since = Math.max(since, startedAt)
  }
  return {
    /** Queues `item` for the next flush. Add it again only after `collect` was called. */
    add: (item: Unwritten) => {
      if (size() === 0) since = performance.now()
      waiting.add(item)
    },
    /** The items of a place that wait for the next flush, without those that are being written. */
    waitingAt: (place: number): readonly Unwritten[] => waiting.at(place),
    /** Number of items that are not on disk. */
    size,
    /** Upper bound of the time that an item has waited, in milliseconds; 0 if none waits. */
    lagMs: () => (size() === 0 ? 0 : performance.now() - since),
    /** Writes all items that are queued now. Rejects if that fails. */
    flush: () => inSeries(flushOnce),
    /** Writes them like `flush`, and tries again for `longestMs`. After that, no write waits for the database. */
    flushLast: (longestMs = 0) => {
      if (longestMs === 0) stopping.abort()
      else setTimeout(() => stopping.abort(), longestMs).unref()
      return inSeries(() => retry(flushOnce, stopping.signal))
    },
    /**
     * Runs `work` while nothing is being written, so that each count is either on disk or unwritten. Rejects with
     * 503 if that takes seconds, such as while the database is away.
     */
    betweenFlushes: <Result>(work: () => Result | Promise<Result>) =>
      inTimeOrFail(inSeries(work), LONGEST_WAIT_MS, countsUnavailable),
  }
}

async function writeChunk(
  chunk: readonly Unwritten[],
  write: (uses: Uses) => Promise<Written>,
): Promise<Written> {
  const uses: Uses = { buckets: [], users: [], keys: [], operations: [] }
  for (const item of chunk) item.collect(uses)
  const written = await write(uses)
  const byId = written.totals && new Map(written.totals.map((total) => [periodId(total), total]))
  for (const item of chunk) item.written(byId)
  return written
}

/** Items that wait, by their places. */
function createQueue() {
  const emptyLists = () => Array.from({ length: PLACES }, (): Unwritten[] => [])
  let lists = emptyLists()
  let count = 0
  let firstPlace = 0
  const add = (item: Unwritten) => {
    lists[item.place]?.push(item)
    count += 1
  }
  return {
    add,
    /** Adds items that `takeAll` has returned. It will begin with their first place. */
    putBack: (items: readonly Unwritten[]) => {
      items.forEach(add)
      firstPlace = items[0]?.place ?? 0
    },
    at: (place: number) => lists[place] ?? [],
    size: () => count,
    /** Removes all items, and returns them in the order of their places. */
    takeAll: (): Unwritten[] => {
      const items = [...lists.slice(firstPlace), ...lists.slice(0, firstPlace)].flat()
      lists = emptyLists()
      count = 0
      return items
    },
  }
}

function countsUnavailable(): ApiError {
  return new ApiError('SERVICE_UNAVAILABLE', 'The counts cannot be read now; try again later')
}
