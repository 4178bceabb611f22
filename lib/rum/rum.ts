import { withoutWaiting } from '../db/engine.ts'
import { isLocked } from '../db/fault.ts'
import type { Db } from '../db/open.ts'
import { HOUR_MS } from '../durations.ts'
import type { Address } from '../net/address.ts'
import { repeat } from '../periodic.ts'
import { hourOf } from './hour.ts'
import type { KeptBeacon } from './ingest/beacon.ts'
import { Journal } from './ingest/journal.ts'
import { type OverviewFilter, readOverview } from './read/overview.ts'
import { readSummary } from './read/summary.ts'
import { Aggregator } from './rows/aggregator.ts'
import { removeOld } from './store/retention.ts'
import type { RowFilter } from './store/rows.ts'
import { createRumStore, type RumStore } from './store/store.ts'

/** Real-user monitoring: stores the beacons of browsers and sums them up. */
export type Rum = ReturnType<typeof openRum>

interface Sender {
  /** Only its country is stored. Null if unknown. */
  readonly address: Address | null
  /** Epoch milliseconds. */
  readonly now: number
}

interface RumOptions {
  readonly db: Db
  /** Returns the id of the site that gets the beacons of this origin; null: none. */
  readonly findSite: (origin: string) => Promise<string | null>
  /** ISO 3166-1 alpha-2. */
  readonly findCountry: (address: Address) => string | undefined
  readonly onError: (error: unknown, message: string) => void
  readonly now: () => number
  readonly checkpointMs?: number
}

const CHECKPOINT_MS = 10_000

/** Opens telemetry, after summing up the beacons that the last run left in the journal. */
export function openRum({ db, checkpointMs = CHECKPOINT_MS, ...options }: RumOptions) {
  const { findSite, findCountry, onError } = options
  const store = createRumStore(db)
  const aggregator = new Aggregator(db, store)
  aggregator.replay()
  const journal = openJournal(db, store, aggregator, onError)
  const checkpoints = repeat(
    checkpointMs,
    () => aggregator.checkpoint(),
    (error) => onError(error, 'cannot sum up telemetry; it stays in the journal'),
  )
  const retention = repeat(
    HOUR_MS,
    () => removeOld(db, options.now()),
    (error) => onError(error, 'cannot remove old telemetry'),
  )
  const beacons = { stored: 0, failed: 0, bot: 0, 'queue-full': 0 }
  return {
    findSite,
    /** Counts the outcomes of beacons since the start. */
    beacons,
    /** The number of beacons that wait to be written to disk. */
    waiting: () => journal.size,
    /** Stores the beacon for the site. Resolves to `stored` once it is on disk. */
    accept: async (siteId: string, beacon: KeptBeacon, { address, now }: Sender) => {
      const country = (address && findCountry(address)) ?? ''
      const accepted = await journal.add({ siteId, receivedAt: now, country, beacon })
      if (accepted !== 'full') beacons[accepted] += 1
      return accepted
    },
    /** Counts a beacon that is not stored. */
    countDropped: (siteId: string, reason: 'bot' | 'queue-full', now: number) => {
      beacons[reason] += 1
      const counter = { hour: hourOf(now), kind: 'beacon', label: reason, count: 1 } as const
      aggregator.site(siteId).count(counter)
    },
    readSummary: (filter: RowFilter) => readSummary(store, filter, aggregator.hours(filter.siteId)),
    readOverview: async (filter: OverviewFilter) => {
      try {
        await aggregator.checkpointSite(filter.siteId)
      } catch (error) {
        onError(error, 'cannot sum up telemetry; an overview lacks the latest beacons')
      }
      return readOverview(store, filter)
    },
    [Symbol.dispose]: () => {
      checkpoints[Symbol.dispose]()
      retention[Symbol.dispose]()
      journal.close()
      try {
        aggregator.close()
      } catch (error) {
        onError(error, 'cannot sum up telemetry; it stays in the journal')
      }
    },
  }
}

/** Opens a journal that folds each entry into rows after its commit. */
function openJournal(
  db: Db,
  store: RumStore,
  aggregator: Aggregator,
  onError: RumOptions['onError'],
): Journal {
  return new Journal({
    firstId: store.lastEntryId() + 1,
    write: (entries) => withoutWaiting(db.$client, () => store.addEntries(entries)),
    committed: (entries) => {
      try {
        aggregator.fold(entries)
      } catch (error) {
        onError(error, 'cannot read stored telemetry; beacons wait in the journal')
      }
    },
    isLocked,
    onError: (error) => onError(error, 'cannot store beacons'),
  })
}
