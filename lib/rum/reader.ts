import type { Connection } from '../db/connection.ts'
import { createEngine } from '../db/engine.ts'
import { type OverviewFilter, readOverview } from './read/overview.ts'
import { createReadStore, type Read } from './read/read-store.ts'
import { readSummary } from './read/summary.ts'
import type { RowFilter, SummaryRow } from './store/row.ts'

/** Reads stored telemetry. Returns JSON: passing it to another thread costs less than objects. */
export type RumReader = ReturnType<typeof createReader>

const encoder = new TextEncoder()

export function createRumReader({ $client }: Connection): RumReader {
  const { execute } = createEngine($client)
  return createReader(async (sql, params) => (await execute({ sql, params })).rows)
}

export function createReader(read: Read) {
  const store = createReadStore(read)
  return {
    /** Reads a summary as bytes, because it may have megabytes. `live` rows replace their stored copies. */
    readSummary: async (filter: RowFilter, live: readonly SummaryRow[]): Promise<Uint8Array> =>
      encoder.encode(JSON.stringify({ metrics: await readSummary(store, filter, live) })),
    /** Reads an overview. */
    readOverview: async (filter: OverviewFilter): Promise<string> =>
      JSON.stringify(await readOverview(store, filter)),
  }
}
