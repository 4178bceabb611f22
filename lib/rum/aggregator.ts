import type { Entry } from './journal.ts'
import { type HourRow, SiteFold } from './site-fold.ts'
import type { RumStore } from './store.ts'

export interface AggregatorOptions {
  readonly store: RumStore
  /** Runs `work` in a transaction, and hands on what it throws. */
  readonly transact: (work: () => void) => void
}

/** A transaction takes no more sites after this. */
const CHUNK_MS = 4
const REPLAY_ENTRIES = 5_000

/**
 * Folds committed beacons into the rows that they change. Those are read when the first beacon
 * comes, kept until the next checkpoint, and written then together with the end of their entries in
 * the journal: so each beacon counts once, whenever the process ends.
 */
export class Aggregator {
  readonly #options: AggregatorOptions
  readonly #sites = new Map<string, SiteFold>()
  /** Committed entries that are not folded, since the database could not be read. */
  #unfolded: Entry[] = []

  constructor(options: AggregatorOptions) {
    this.#options = options
  }

  /** Takes in what the journal holds from the last run, and writes it. */
  replay(): void {
    for (let after = { siteId: '', id: 0 }; ; ) {
      const entries = this.#options.store.readEntries(after, REPLAY_ENTRIES)
      const last = entries.at(-1)
      if (last === undefined) return
      this.fold(entries)
      this.checkpointNow()
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
    const site = new SiteFold(this.#options.store, siteId)
    this.#sites.set(siteId, site)
    return site
  }

  /** Rows of the site that are newer than those in the database. */
  rows(siteId: string): HourRow[] {
    if (this.#unfolded.length > 0) this.fold([])
    return this.#sites.get(siteId)?.hours ?? []
  }

  /** Writes all sites, in transactions between which others may run. */
  async checkpoint(): Promise<void> {
    // What comes in meanwhile waits for the next time.
    const siteIds = [...this.#sites.keys()]
    while (siteIds.length > 0) {
      this.#writeSome(siteIds)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  checkpointNow(): void {
    const siteIds = [...this.#sites.keys()]
    while (siteIds.length > 0) this.#writeSome(siteIds)
  }

  checkpointSite(siteId: string): void {
    this.#writeSome([siteId])
  }

  /** Writes the first of the sites, and takes them off the list. */
  #writeSome(siteIds: string[]): void {
    let written = 0
    const end = performance.now() + CHUNK_MS
    this.#options.transact(() => {
      for (const siteId of siteIds) {
        this.#sites.get(siteId)?.write()
        written += 1
        if (performance.now() > end) break
      }
    })
    for (const siteId of siteIds.splice(0, written)) this.#sites.delete(siteId)
  }
}
