import type { Flusher } from '../db/flusher.ts'
import { isLocked } from '../db/unit.ts'
import type { Entry } from './journal.ts'
import { SiteFold } from './site-fold.ts'
import { changedHours, forgetStored, type HourRow } from './site-rows.ts'
import { partsOf } from './site-write.ts'
import type { RumStore } from './store.ts'

export interface AggregatorOptions {
  readonly store: RumStore
  readonly createFlusher: () => Flusher
}

const REPLAY_ENTRIES = 5_000

/**
 * Folds committed beacons into the rows that they change. Those are read when the first beacon
 * comes, and kept while more come. A checkpoint writes what has changed, each row with the last
 * entry of the journal that it holds: so each beacon counts once, whenever the process ends.
 */
export class Aggregator {
  readonly #store: RumStore
  readonly #createFlusher: () => Flusher
  readonly #sites = new Map<string, SiteFold>()
  /** Committed entries that are not folded, since the database could not be read. */
  #unfolded: Entry[] = []
  #isClosed = false

  constructor({ store, createFlusher }: AggregatorOptions) {
    this.#store = store
    this.#createFlusher = createFlusher
  }

  /**
   * Takes in what the journal holds from the last run, and writes it: with the next checkpoint where
   * another process has the lock.
   */
  replay(): void {
    for (let after = { siteId: '', id: 0 }; ; ) {
      const entries = this.#store.readEntries(after, REPLAY_ENTRIES)
      const last = entries.at(-1)
      if (last === undefined) return
      this.fold(entries)
      this.#writeUnlessLocked()
      after = last
    }
  }

  /** Takes the entries in any case. Throws where some of them have to wait for the database. */
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

  /** Rows of the site that are newer than those in the database. */
  rows(siteId: string): HourRow[] {
    if (this.#unfolded.length > 0) this.fold([])
    const site = this.#sites.get(siteId)
    return site === undefined ? [] : changedHours(site.rows)
  }

  /**
   * Writes all sites, in transactions between which others may run. What has not changed since the
   * last time is forgotten.
   */
  async checkpoint(): Promise<void> {
    this.#forgetStored()
    await this.#writeOut(this.#sites.values())
  }

  async checkpointSite(siteId: string): Promise<void> {
    const site = this.#sites.get(siteId)
    if (site !== undefined) await this.#writeOut([site])
  }

  checkpointNow(): void {
    this.#queue(this.#sites.values()).flushNow()
    this.#forgetStored()
  }

  /** Writes what is left. A checkpoint that is under way ends. */
  close(): void {
    this.#isClosed = true
    this.checkpointNow()
  }

  #writeUnlessLocked(): void {
    try {
      this.checkpointNow()
    } catch (error) {
      if (!isLocked(error)) throw error
    }
  }

  async #writeOut(sites: Iterable<SiteFold>): Promise<void> {
    const flusher = this.#queue(sites)
    while (flusher.size() > 0 && !this.#isClosed) {
      flusher.flushChunk()
      await nextTurn()
    }
  }

  #queue(sites: Iterable<SiteFold>): Flusher {
    const flusher = this.#createFlusher()
    for (const { rows } of sites) {
      for (const part of partsOf(this.#store, rows, flusher.add)) flusher.add(part)
    }
    return flusher
  }

  #forgetStored(): void {
    for (const [siteId, { rows }] of this.#sites) {
      if (forgetStored(rows)) this.#sites.delete(siteId)
    }
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
