import type { Connection } from '../db/connection.ts'
import { type WriterDb, withoutWaiting } from '../db/engine.ts'
import { isLocked } from '../db/fault.ts'
import { HOUR_MS } from '../parts/durations.ts'
import { repeat } from '../parts/repeat.ts'
import { hourOf } from './hour.ts'
import { type Accepted, type Draft, type Entry, Journal } from './ingest/journal.ts'
import { readLive } from './read/summary.ts'
import { Aggregator } from './rows/aggregator.ts'
import type { SiteFold } from './rows/site-fold.ts'
import { entryStatements } from './store/entries.ts'
import { removeOld } from './store/retention.ts'
import type { RowFilter, SummaryRow } from './store/row.ts'
import { createRumStore } from './store/store.ts'

interface WriterOptions {
  readonly onError: (error: unknown, message: string) => void
  readonly now: () => number
  readonly checkpointMs?: number | undefined
}

/** Why a beacon is not stored. */
export type DropReason = 'bot' | 'queue-full'

const CHECKPOINT_MS = 10_000

/** Writes telemetry. */
export interface RumWriter extends Omit<EntryWriter, 'writeEntries'> {
  /** Stores a beacon. Resolves to `stored` once it is on disk. */
  readonly add: (draft: Draft) => Promise<Accepted>
}

/** Opens the writer, after summing up the beacons that the last run left in the journal. */
export function openRumWriter(db: WriterDb, options: WriterOptions): RumWriter & AsyncDisposable {
  const { [Symbol.asyncDispose]: close, ...writer } = openEntryWriter(db, options)
  const journal = openJournal(db, writer.writeEntries, options.onError)
  return {
    ...writer,
    add: (draft) => journal.add(draft),
    [Symbol.asyncDispose]: async () => {
      await journal.close()
      await close()
    },
  }
}

/** Opens the journal, which groups beacons and calls `write` with each group. `db` is only read. */
export function openJournal(
  db: Connection,
  write: EntryWriter['writeEntries'],
  onError: WriterOptions['onError'],
): Journal {
  return new Journal({
    firstId: entryStatements(db).lastEntryId() + 1,
    write,
    isLocked,
    onError: (error) => onError(error, 'cannot store beacons'),
  })
}

/** The part of the writer that changes the database. Its methods can be called from other threads. */
export type EntryWriter = Omit<ReturnType<typeof openEntryWriter>, typeof Symbol.asyncDispose>

/** Opens the part that changes the database, after summing up what the last run left in the journal. */
export function openEntryWriter(db: WriterDb, options: WriterOptions) {
  const { onError, now } = options
  const store = createRumStore(db)
  const aggregator = new Aggregator(db, store)
  aggregator.replay()
  const { close, ...sums } = startCheckpoints(aggregator, options)
  const retention = repeat(
    HOUR_MS,
    () => removeOld(db, now()),
    (error) => onError(error, 'cannot remove old telemetry'),
  )
  const write = (entries: readonly Entry[]): number => {
    const startedAt = performance.now()
    withoutWaiting(db.$client, () => store.addEntries(entries))
    return performance.now() - startedAt
  }
  return {
    ...sums,
    /** Writes all entries and sums them up or, if it fails, writes none. Resolves to the milliseconds of the commit. */
    writeEntries: async (entries: readonly Entry[]): Promise<number> => {
      const commitMs = await db.engine.whenFree(() => write(entries), 1)
      try {
        aggregator.fold(entries)
      } catch (error) {
        onError(error, 'cannot read stored telemetry; beacons wait in the journal')
      }
      return commitMs
    },
    /** The rows of a summary that are newer than their stored copies. */
    readLive: (filter: RowFilter): Promise<SummaryRow[]> => readLive(aggregator, filter),
    [Symbol.asyncDispose]: async () => {
      retention[Symbol.dispose]()
      await close()
    },
  }
}

/** SQLite's aggregator or PostgreSQL's. */
interface Sums extends Pick<Aggregator, 'checkpoint' | 'checkpointSite' | 'close'> {
  site(siteId: string): Pick<SiteFold, 'count'>
}

/** Writes what beacons have changed every ten seconds, and once more at the end. */
export function startCheckpoints(
  sums: Sums,
  { onError, checkpointMs = CHECKPOINT_MS }: Pick<WriterOptions, 'onError' | 'checkpointMs'>,
) {
  const failed = (error: unknown) =>
    onError(error, 'cannot sum up telemetry; it stays in the journal')
  const checkpoints = repeat(checkpointMs, () => sums.checkpoint(), failed)
  return {
    /** Counts a beacon that is not stored. */
    countDropped: async (siteId: string, reason: DropReason, at: number): Promise<void> => {
      sums.site(siteId).count({ hour: hourOf(at), kind: 'beacon', label: reason, count: 1 })
    },
    /** Writes the beacons that the site's stored rows lack. */
    checkpointSite: (siteId: string): Promise<void> => sums.checkpointSite(siteId),
    close: async (): Promise<void> => {
      checkpoints[Symbol.dispose]()
      await sums.close().catch(failed)
    },
  }
}
