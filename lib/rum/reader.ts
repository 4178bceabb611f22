import type { Connection } from '../db/client.ts'
import { type OverviewFilter, readOverview } from './read/overview.ts'
import { readSummary } from './read/summary.ts'
import type { RowFilter, SummaryRow } from './store/rows.ts'
import { createRumStore } from './store/store.ts'

/** Reads stored telemetry. */
export type RumReader = ReturnType<typeof createRumReader>

export function createRumReader(db: Connection) {
  const store = createRumStore(db)
  return {
    /** `live`: rows that replace their stored copies. */
    readSummary: async (filter: RowFilter, live: readonly SummaryRow[]) =>
      readSummary(store, filter, live),
    readOverview: (filter: OverviewFilter) => readOverview(store, filter),
  }
}
