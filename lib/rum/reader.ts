import type { Connection } from '../db/client.ts'
import { type OverviewFilter, readOverview } from './read/overview.ts'
import { readSummary } from './read/summary.ts'
import type { RowFilter, SummaryRow } from './store/rows.ts'
import { createRumStore } from './store/store.ts'

/** Reads stored telemetry. Returns JSON text: copying it to another thread costs less than objects. */
export type RumReader = ReturnType<typeof createRumReader>

export function createRumReader(db: Connection) {
  const store = createRumStore(db)
  return {
    /** Reads an array of rows. `live`: rows that replace their stored copies. */
    readSummary: async (filter: RowFilter, live: readonly SummaryRow[]): Promise<string> =>
      JSON.stringify(readSummary(store, filter, live)),
    /** Reads an object. */
    readOverview: async (filter: OverviewFilter): Promise<string> =>
      JSON.stringify(await readOverview(store, filter)),
  }
}
