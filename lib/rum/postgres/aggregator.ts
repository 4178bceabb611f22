import type { Entry } from '../ingest/journal.ts'
import { type NodeDatabase, type Part, writeParts } from './checkpoint.ts'
import { removeGroups } from './entries.ts'
import { PendingSite } from './pending-site.ts'

export interface AggregatorOptions extends NodeDatabase {
  /**
   * Called once if other nodes have summed up the journal of this one, because they have marked it dead.
   */
  readonly onTakenOver: () => void
}

/** Sites share a transaction, because most of its cost is fixed; but it holds the locks of all its sites. */
const SITES_AT_ONCE = 200

/**
 * Folds committed beacons into memory, and adds them to the stored rows at checkpoints. Each beacon counts
 * exactly once: whatever is not written is still in the journal, and the rows say what they include.
 */
export class PgAggregator {
  readonly #options: AggregatorOptions
  readonly #sites = new Map<string, PendingSite>()
  /** The last folded journal entry. */
  #lastId = 0
  /** The last entry that was removed from the journal. */
  #removedId = 0
  #checkpoints = 0
  #isTakenOver = false

  constructor(options: AggregatorOptions) {
    this.#options = options
  }

  /** Whether other nodes have taken over the journal, and with it all that is in memory here. */
  get isTakenOver(): boolean {
    return this.#isTakenOver
  }

  fold(entries: readonly Entry[]): void {
    if (this.#isTakenOver) return
    for (const entry of entries) {
      this.site(entry.siteId).add(entry)
      this.#lastId = entry.id
    }
  }

  site(siteId: string): PendingSite {
    const known = this.#sites.get(siteId)
    if (known !== undefined) return known
    const site = new PendingSite(siteId)
    this.#sites.set(siteId, site)
    return site
  }

  /**
   * Forgets sites without beacons since the last checkpoint, and writes all others. Throws at the first
   * transaction that fails; its sites are the last ones of the next checkpoint.
   */
  async checkpoint(): Promise<void> {
    this.#forgetUnchanged()
    try {
      for (const group of this.#groups()) await this.#write(group)
    } finally {
      await this.#removeWritten()
    }
  }

  /** Writes what was folded for the site before the call. */
  async checkpointSite(siteId: string): Promise<void> {
    const site = this.#sites.get(siteId)
    // The first write may be of an older part, which was under way or failed.
    for (let left = 2; left > 0 && site !== undefined; left--) {
      await this.#write([site])
    }
  }

  /** Writes everything. */
  async close(): Promise<void> {
    // The first checkpoint may write older parts, which failed.
    await this.checkpoint()
    await this.checkpoint()
  }

  #groups(): PendingSite[][] {
    const changed = [...this.#sites.values()].filter(({ isChanged }) => isChanged)
    const alone = changed.filter(({ isAlone }) => isAlone).map((site) => [site])
    const others = changed.filter(({ isAlone }) => !isAlone)
    const groups = Array.from({ length: Math.ceil(others.length / SITES_AT_ONCE) }, (_, at) =>
      others.slice(at * SITES_AT_ONCE, (at + 1) * SITES_AT_ONCE),
    )
    return [...groups, ...alone]
  }

  /** Waits for running transactions with any of the sites. Then writes a part of each site. */
  async #write(sites: readonly PendingSite[]): Promise<void> {
    while (sites.some(({ writing }) => writing !== undefined)) {
      await Promise.all(sites.map(({ writing }) => writing))
    }
    const changed = sites.filter(({ isChanged }) => isChanged)
    if (changed.length === 0 || this.#isTakenOver) return
    this.#checkpoints += 1
    const parts = changed.map((site) => site.takePart(this.#checkpoints))
    const written = this.#writeParts(changed, parts)
    const ended = written.catch(() => {})
    for (const site of changed) site.writing = ended
    try {
      await written
    } catch (error) {
      for (const site of changed) this.#putLast(site)
      throw error
    } finally {
      for (const site of changed) site.writing = undefined
    }
  }

  async #writeParts(sites: readonly PendingSite[], parts: readonly Part[]): Promise<void> {
    const full = await writeParts(this.#options, parts)
    if (full === 'taken over') {
      this.#giveUp()
      return
    }
    for (const site of sites) site.partWritten()
    for (const kind of ['paths', 'errors', 'causes'] as const) {
      for (const day of full[kind]) this.#sites.get(day.siteId)?.keepNames(kind, day)
    }
  }

  #putLast(site: PendingSite): void {
    site.isAlone = true
    this.#sites.delete(site.id)
    this.#sites.set(site.id, site)
  }

  #giveUp(): void {
    if (this.#isTakenOver) return
    this.#isTakenOver = true
    this.#sites.clear()
    this.#options.onTakenOver()
  }

  /** Removes from the journal the entries before the first one that is not written yet. */
  async #removeWritten(): Promise<void> {
    const { pool, node } = this.#options
    const unwritten = Array.from(this.#sites.values(), ({ firstUnwritten }) => firstUnwritten)
    const upToId = unwritten.reduce<number>(
      (least, id) => Math.min(least, (id ?? Number.POSITIVE_INFINITY) - 1),
      this.#lastId,
    )
    if (upToId <= this.#removedId || this.#isTakenOver) return
    await pool.use((connection) => removeGroups(connection, node, upToId))
    this.#removedId = upToId
  }

  #forgetUnchanged(): void {
    for (const [siteId, site] of this.#sites) {
      if (!site.isChanged && site.writing === undefined) this.#sites.delete(siteId)
    }
  }
}
