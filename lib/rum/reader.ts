import type { Connection } from '../db/connection.ts'
import { type OverviewFilter, readOverview } from './read/overview.ts'
import type { ReadStore } from './read/read-store.ts'
import { readSummary } from './read/summary.ts'
import type { RowFilter, SummaryRow } from './store/row.ts'
import { createRumStore } from './store/store.ts'

/** Reads stored telemetry. Returns JSON: passing it to another thread costs less than objects. */
export type RumReader = ReturnType<typeof createRumReader>

const encoder = new TextEncoder()

export function createRumReader(db: Connection) {
  return createReader(createRumStore(db))
}

export function createReader(store: ReadStore) {
  return {
    /** Reads a summary as bytes, because it may have megabytes. `live` rows replace their stored copies. */
    readSummary: async (filter: RowFilter, live: readonly SummaryRow[]): Promise<Uint8Array> =>
      encoder.encode(JSON.stringify({ metrics: await readSummary(store, filter, live) })),
    /** Reads an overview. */
    readOverview: async (filter: OverviewFilter): Promise<string> =>
      JSON.stringify(await readOverview(store, filter)),
  }
}
