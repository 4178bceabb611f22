import type { Address } from '../parts/net/address.ts'
import type { KeptBeacon } from './ingest/beacon.ts'
import type { OverviewFilter } from './read/overview.ts'
import type { RumReader } from './reader.ts'
import type { RowFilter } from './store/row.ts'
import type { DropReason, RumWriter } from './writer.ts'

/** Real-user monitoring: stores the beacons of browsers and sums them up. */
export type Rum = ReturnType<typeof createRum>

/** Where a beacon came from, and when. */
interface Arrival {
  /** Only its country is stored. null if unknown. */
  readonly address: Address | null
  /** Epoch milliseconds. */
  readonly now: number
}

interface RumOptions {
  readonly writer: RumWriter
  readonly reader: RumReader
  /** Returns the id of the site that gets the beacons of this origin; null: none. */
  readonly findSite: (origin: string) => Promise<string | null>
  /** ISO 3166-1 alpha-2. */
  readonly findCountry: (address: Address) => string | undefined
  readonly onError: (error: unknown, message: string) => void
  /** The largest number of beacons that wait to be stored. */
  readonly limit?: number
}

const LIMIT = 20_000

/** Stores beacons and reads summaries; `writer` and `reader` may run in other threads. */
export function createRum({ limit = LIMIT, ...options }: RumOptions) {
  const { writer, reader, findSite, findCountry, onError } = options
  const beacons = { stored: 0, failed: 0, bot: 0, 'queue-full': 0 }
  let waiting = 0
  const add = async (siteId: string, beacon: KeptBeacon, { address, now }: Arrival) => {
    if (waiting >= limit) return 'full'
    const country = (address && findCountry(address)) ?? ''
    waiting += 1
    try {
      return await writer.add({ siteId, receivedAt: now, country, beacon })
    } finally {
      waiting -= 1
    }
  }
  return {
    findSite,
    /** Counts the outcomes of beacons since the start. */
    beacons,
    /** The number of beacons that wait to be written to disk. */
    waiting: () => waiting,
    /**
     * Stores the beacon for the site. Resolves to `stored` once it is on disk, to `failed` if it cannot
     * be written, and to `full` if too many others wait.
     */
    accept: async (siteId: string, beacon: KeptBeacon, arrival: Arrival) => {
      const accepted = await add(siteId, beacon, arrival)
      if (accepted !== 'full') beacons[accepted] += 1
      return accepted
    },
    /** Counts a beacon that is not stored. */
    countDropped: (siteId: string, reason: DropReason, now: number) => {
      beacons[reason] += 1
      writer
        .countDropped(siteId, reason, now)
        .catch((error: unknown) => onError(error, 'cannot count a beacon that was not stored'))
    },
    /** Returns a summary, without the fields that repeat the query, as the bytes of its JSON. */
    readSummary: async (filter: RowFilter): Promise<Uint8Array> =>
      reader.readSummary(filter, await writer.readLive(filter)),
    /** Returns an overview, without the fields that repeat the query, as JSON. */
    readOverview: async (filter: OverviewFilter): Promise<string> => {
      try {
        await writer.checkpointSite(filter.siteId)
      } catch (error) {
        onError(error, 'cannot sum up telemetry; an overview lacks the latest beacons')
      }
      return reader.readOverview(filter)
    },
  }
}
