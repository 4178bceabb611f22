import { setImmediate as nextTurn } from 'node:timers/promises'
import type { WriterDb } from '../../db/engine.ts'
import { isLocked } from '../../db/fault.ts'
import type { Entry } from '../ingest/journal.ts'
import type { HourKey, Row } from '../store/row.ts'
import type { RumStore } from '../store/store.ts'
import { addToStored, type LiveRow } from './live-rows.ts'
import { SiteFold } from './site-fold.ts'
import { siteWrites } from './site-writes.ts'
import { createWriteQueue, type WriteQueue } from './write-queue.ts'

const REPLAY_ENTRIES = 5_000

/**
 * Folds committed beacons into rows. Memory holds their values until a checkpoint adds them to the
 * stored rows, each with the last journal entry that it includes, so that each beacon counts exactly
 * once even if the process is killed.
 */
export class Aggregator {
  readonly #db: WriterDb
  readonly #store: RumStore
  readonly #sites = new Map<string, SiteFold>()
  /** Committed entries that could not be folded, because the database could not be read. */
  #unfolded: Entry[] = []
  #isClosed = false

  constructor(db: WriterDb, store: RumStore) {
    this.#db = db
    this.#store = store
  }

  /**
   * Folds and writes the entries that the last run left in the journal. If another process holds the
   * lock, the next checkpoint writes them.
   */
  replay(): void {
    for (let after = { siteId: '', id: 0 }; ; ) {
      const entries = this.#store.readEntries(after, REPLAY_ENTRIES)
      const last = entries.at(-1)
      if (last === undefined) return
      this.fold(entries)
      try {
        this.#checkpointNow()
      } catch (error) {
        if (!isLocked(error)) throw error
      }
      after = last
    }
  }

  /** Folds the entries. If the database cannot be read, keeps them for the next call and throws. */
  fold(entries: readonly Entry[]): void {
    const waiting = this.#unfolded
    if (waiting.length > 0) waiting.push(...entries)
    const all = waiting.length > 0 ? waiting : entries
    let done = 0
    try {
      for (const entry of all) {
        this.site(entry.siteId).add(entry)
        done += 1
      }
    } finally {
      this.#unfolded = done === all.length ? [] : all.slice(done)
    }
  }

  site(siteId: string): SiteFold {
    const known = this.#sites.get(siteId)
    if (known !== undefined) return known
    const site = new SiteFold(this.#store, siteId)
    this.#sites.set(siteId, site)
    return site
  }

  /** The hourly rows of the site that are newer than their stored copies. */
  changedHours(siteId: string): LiveRow<HourKey>[] {
    if (this.#unfolded.length > 0) this.fold([])
    return this.site(siteId).hours.changed()
  }

  /** Adds the totals of the row to those of its stored copy. Throws if that cannot be read. */
  readHour(siteId: string, row: LiveRow<HourKey>): Row {
    return addToStored(row, this.#store.hours.find(siteId, row.key))
  }

  /**
   * Writes all sites in several transactions, and lets other requests run in between. Forgets rows
   * that have not changed since the last checkpoint.
   */
  async checkpoint(): Promise<void> {
    this.#forgetSaved()
    await this.#writeOut(this.#sites.values())
  }

  async checkpointSite(siteId: string): Promise<void> {
    const site = this.#sites.get(siteId)
    if (site !== undefined) await this.#writeOut([site])
  }

  /** Writes everything that is unwritten, and stops a running checkpoint. */
  async close(): Promise<void> {
    await this.#db.engine.whenFree(() => {
      this.#isClosed = true
      this.#checkpointNow()
    }, 1)
  }

  #checkpointNow(): void {
    this.#queue(this.#sites.values()).writeAll()
    this.#forgetSaved()
  }

  async #writeOut(sites: Iterable<SiteFold>): Promise<void> {
    const queue = this.#queue(sites)
    while (queue.size() > 0 && !this.#isClosed) {
      await nextTurn()
      await this.#db.engine.whenFree(() => {
        if (!this.#isClosed) queue.writeChunk()
      }, 1)
    }
  }

  #queue(sites: Iterable<SiteFold>): WriteQueue {
    const queue = createWriteQueue(this.#db)
    for (const site of sites) {
      siteWrites(this.#store, site, queue.add).forEach(queue.add)
    }
    return queue
  }

  #forgetSaved(): void {
    for (const [siteId, site] of this.#sites) {
      if (site.forgetSaved()) this.#sites.delete(siteId)
    }
  }
}
