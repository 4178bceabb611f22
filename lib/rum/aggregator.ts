import type { Entry } from './journal.ts'
import { SiteFold } from './site-fold.ts'
import { type HourRow, hoursOf } from './site-rows.ts'
import { SiteWrite } from './site-write.ts'
import type { RumStore } from './store.ts'

export interface AggregatorOptions {
  readonly store: RumStore
  /** Runs `work` in a transaction, and hands on what it throws. */
  readonly transact: (work: () => void) => void
}

/** A step of a checkpoint takes no more rows or sites after this. */
const STEP_MS = 4
const REPLAY_ENTRIES = 5_000

/**
 * Folds committed beacons into the rows that they change. Those are read when the first beacon
 * comes, kept until the next checkpoint, and written then together with the end of their entries in
 * the journal: so each beacon counts once, whenever the process ends.
 */
export class Aggregator {
  readonly #options: AggregatorOptions
  readonly #sites = new Map<string, SiteFold>()
  /** Of each site what a checkpoint is about to write. */
  readonly #writes = new Map<string, SiteWrite>()
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
    const source = this.#writes.get(siteId)?.source() ?? this.#options.store
    const site = new SiteFold(source, siteId)
    this.#sites.set(siteId, site)
    return site
  }

  /** Rows of the site that are newer than those in the database; of one row, the last counts. */
  rows(siteId: string): HourRow[] {
    if (this.#unfolded.length > 0) this.fold([])
    const parts = [this.#writes.get(siteId)?.rows, this.#sites.get(siteId)?.rows]
    return parts.flatMap((rows) => (rows === undefined ? [] : hoursOf(rows)))
  }

  /** Writes all sites, in steps between which others may run. What comes in meanwhile waits. */
  async checkpoint(): Promise<void> {
    for (const siteId of this.#sites.keys()) this.#close(siteId)
    let end = performance.now() + STEP_MS
    for (const write of [...this.#writes.values()]) {
      while (!write.prepare(end)) {
        await nextTurn()
        end = performance.now() + STEP_MS
      }
    }
    while (this.#writes.size > 0) {
      this.#writeSome([...this.#writes.keys()])
      await nextTurn()
    }
  }

  checkpointNow(): void {
    while (this.#writes.size + this.#sites.size > 0) {
      for (const siteId of this.#sites.keys()) this.#close(siteId)
      this.#writeSome([...this.#writes.keys()])
    }
  }

  checkpointSite(siteId: string): void {
    if (this.#writes.has(siteId)) this.#writeSome([siteId])
    this.#close(siteId)
    if (this.#writes.has(siteId)) this.#writeSome([siteId])
  }

  /** Nothing is added to what is to be written. One that could not be written comes first. */
  #close(siteId: string): void {
    const site = this.#sites.get(siteId)
    if (site === undefined || this.#writes.has(siteId)) return
    this.#writes.set(siteId, new SiteWrite(this.#options.store, site.rows))
    this.#sites.delete(siteId)
  }

  /** Writes the first of the sites, at least one. */
  #writeSome(siteIds: readonly string[]): void {
    const written: string[] = []
    const end = performance.now() + STEP_MS
    this.#options.transact(() => {
      for (const siteId of siteIds) {
        this.#writes.get(siteId)?.write()
        written.push(siteId)
        if (performance.now() > end) break
      }
    })
    for (const siteId of written) {
      this.#writes.get(siteId)?.forget()
      this.#writes.delete(siteId)
    }
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
