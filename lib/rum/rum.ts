import type { Address } from '../address.ts'
import type { RumSummary } from '../contract/telemetry-schemas.ts'
import { createFlusher } from '../db/flusher.ts'
import type { Db } from '../db/open.ts'
import { isLocked } from '../db/unit.ts'
import { withoutWaiting } from '../db/without-waiting.ts'
import { repeat } from '../periodic.ts'
import { Aggregator } from './aggregator.ts'
import type { KeptBeacon } from './beacon.ts'
import { hourOf } from './hour.ts'
import { type Accepted, Journal } from './journal.ts'
import { createReadOverview, type ReadOverview } from './overview.ts'
import { removeOld } from './retention.ts'
import { createRumStore } from './store.ts'
import { createReadSummary, type RowFilter } from './summary.ts'

/** Telemetry of browsers: what they send, kept and summed up. */
export interface Rum extends Disposable {
  /** The sites that have this origin, of any user. */
  findSites(origin: string): readonly string[]
  /** Keeps the beacon for each of the sites; resolves once it is on the disk. */
  accept(siteIds: readonly string[], beacon: KeptBeacon, from: Sender): Promise<Accepted>
  /** Counts a beacon of the sites that is not kept, by the reason. */
  countDropped(siteIds: readonly string[], reason: DropReason, now: number): void
  /** What became of the beacons since the start. */
  readonly beacons: Readonly<Record<BeaconEnd, number>>
  /** How many beacons wait to be on the disk. */
  waiting(): number
  readSummary(filter: RowFilter): RumSummary['metrics']
  readOverview: ReadOverview
}

export interface Sender {
  /** Only its country is kept; null: unknown. */
  readonly address: Address | null
  /** Epoch milliseconds. */
  readonly now: number
}

export type DropReason = 'bot' | 'queue-full'
export type BeaconEnd = Exclude<Accepted, 'full'> | DropReason

export interface RumOptions {
  readonly db: Db
  readonly findSites: (origin: string) => readonly string[]
  /** ISO 3166-1 alpha-2. */
  readonly findCountry: (address: Address) => string | undefined
  readonly onError: (error: unknown, message: string) => void
  readonly now: () => number
  readonly checkpointMs?: number
}

const CHECKPOINT_MS = 10_000
const RETENTION_MS = 60 * 60 * 1000

/** Opens telemetry: what the last run has accepted and not summed up yet is summed up first. */
export function openRum({ db, checkpointMs = CHECKPOINT_MS, ...options }: RumOptions): Rum {
  const { findSites, findCountry, onError } = options
  const store = createRumStore(db)
  const aggregator = new Aggregator({ store, createFlusher: () => createFlusher(db) })
  aggregator.replay()
  const journal = new Journal({
    firstId: store.lastEntryId() + 1,
    write: (entries) => withoutWaiting(db, () => store.addEntries(entries)),
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
  const checkpoints = repeat(
    checkpointMs,
    () => aggregator.checkpoint(),
    (error) => onError(error, 'cannot sum up telemetry; it stays in the journal'),
  )
  const retention = removeOldHourly(db, options)
  const beacons = { stored: 0, failed: 0, bot: 0, 'queue-full': 0 }
  const readSummary = createReadSummary(db)
  const readOverview = createReadOverview(db)
  return {
    findSites,
    beacons,
    waiting: () => journal.size,
    accept: async (siteIds, beacon, { address, now }) => {
      const country = address === null ? undefined : findCountry(address)
      const draft = { siteIds, receivedAt: now, country: country ?? '', beacon }
      const accepted = await journal.add(draft)
      if (accepted !== 'full') beacons[accepted] += 1
      return accepted
    },
    countDropped: (siteIds, reason, now) => {
      beacons[reason] += 1
      for (const id of siteIds) aggregator.site(id).count(hourOf(now), 'beacon', reason)
    },
    readSummary: (filter) => readSummary(filter, aggregator.rows(filter.siteId)),
    readOverview: async (filter) => {
      try {
        await aggregator.checkpointSite(filter.siteId)
      } catch (error) {
        onError(error, 'cannot sum up telemetry; an overview is a little old')
      }
      return readOverview(filter)
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

function removeOldHourly(db: Db, { now, onError }: Pick<RumOptions, 'now' | 'onError'>) {
  return repeat(
    RETENTION_MS,
    () => removeOld(db, now()),
    (error) => onError(error, 'cannot remove old telemetry'),
  )
}
