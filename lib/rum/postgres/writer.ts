import type { PgPool } from '../../postgres/connection.ts'
import { type Accepted, type Draft, Journal, type Pace } from '../ingest/journal.ts'
import type { RowFilter, SummaryRow } from '../store/row.ts'
import { type RumWriter, startCheckpoints } from '../writer.ts'
import { PgAggregator } from './aggregator.ts'
import { addGroup } from './entries.ts'

export interface PgWriterOptions {
  /** The id of this node, under which no earlier process has written. */
  readonly node: string
  readonly onError: (error: unknown, message: string) => void
  /**
   * Called once if other nodes have summed up the journal of this one, because they have marked it dead.
   * All further beacons fail: open another writer with a new id, and replay the journal of the old one.
   */
  readonly onTakenOver: () => void
  readonly checkpointMs?: number | undefined
}

/**
 * Most of what a commit costs the server does not depend on its size: up to 10,000 beacons a second, about
 * twenty commits take them all.
 */
const PACE: Pace = { fullGroup: 500, pauseAfter: () => 50 }
/** ISO 3166-1 alpha-2. Databases of operators may hold any text, and PostgreSQL does not accept U+0000. */
const COUNTRY = /^[\w-]{0,10}$/

/** Writes telemetry of one node. */
export function openPgRumWriter(
  pool: PgPool,
  options: PgWriterOptions,
): RumWriter & AsyncDisposable {
  const { node, onError, onTakenOver } = options
  const aggregator = new PgAggregator({ pool, node, onTakenOver })
  const journal = new Journal({
    firstId: 1,
    write: async (entries) => {
      const startedAt = performance.now()
      await addGroup(pool, node, entries)
      return performance.now() - startedAt
    },
    committed: (entries) => aggregator.fold(entries),
    isLocked: () => false,
    onError: (error) => onError(error, 'cannot store beacons'),
    pace: PACE,
  })
  const { close, ...sums } = startCheckpoints(aggregator, options)
  return {
    ...sums,
    add: async (draft: Draft): Promise<Accepted> => {
      if (aggregator.isTakenOver) return 'failed'
      return journal.add(COUNTRY.test(draft.country) ? draft : { ...draft, country: '' })
    },
    /** Writes what is newer than the stored rows, so that there are no live rows to return. */
    readLive: async ({ siteId }: RowFilter): Promise<SummaryRow[]> => {
      try {
        await aggregator.checkpointSite(siteId)
      } catch (error) {
        onError(error, 'cannot sum up telemetry; a summary lacks the latest beacons')
      }
      return []
    },
    [Symbol.asyncDispose]: async () => {
      await journal.close()
      await close()
    },
  }
}
