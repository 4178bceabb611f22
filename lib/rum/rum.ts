import type { Address } from '../address.ts'
import type { RumSummary } from '../contract/telemetry-schemas.ts'
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
  const { findSites, findCountry, onError, now: clock } = options
  const store = createRumStore(db)
  const transact = (work: () => void) =>
    withoutWaiting(db, () => db.$client.transaction(work).immediate())
  const aggregator = new Aggregator({ store, transact })
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
  const retention = repeat(
    RETENTION_MS,
    () => removeOld(db, clock()),
    (error) => onError(error, 'cannot remove old telemetry'),
  )
  const readSummary = createReadSummary(db)
  const readOverview = createReadOverview(db)
  return {
    findSites,
    accept: (siteIds, beacon, { address, now }) => {
      const country = address === null ? undefined : findCountry(address)
      return journal.add({ siteIds, receivedAt: now, country: country ?? '', beacon })
    },
    countDropped: (siteIds, reason, now) => {
      for (const id of siteIds) aggregator.site(id).count(hourOf(now), 'beacon', reason)
    },
    readSummary: (filter) => readSummary(filter, aggregator.rows(filter.siteId)),
    readOverview: (filter) => {
      try {
        aggregator.checkpointSite(filter.siteId)
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
        aggregator.checkpointNow()
      } catch (error) {
        onError(error, 'cannot sum up telemetry; it stays in the journal')
      }
    },
  }
}
