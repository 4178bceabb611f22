import type { Entry } from '../ingest/journal.ts'
import { type KnownRows, SiteFold } from '../rows/site-fold.ts'
import type { Counter } from '../store/counts.ts'
import type { FullDays, Part } from './checkpoint.ts'
import type { FullDay } from './names.ts'

/** What a node must still add to the stored rows of one site. */
export class PendingSite {
  readonly id: string
  #fold: SiteFold
  /** The part that a transaction is writing or failed to write. */
  #part: (Part & { readonly firstId: number | undefined }) | undefined
  /** The first journal entry of `#fold`. */
  #firstId: number | undefined
  /** Settles when the running transaction with the site has ended. */
  writing: Promise<unknown> | undefined
  /** Its last transaction failed: the next one has only this site, so that no other fails with it. */
  isAlone = false
  readonly #full: FullNames = { paths: new Map(), errors: new Map(), causes: new Map() }

  constructor(id: string) {
    this.id = id
    this.#fold = this.#newFold()
  }

  add(entry: Entry): void {
    this.#fold.add(entry)
    this.#firstId ??= entry.id
  }

  count(counter: Counter): void {
    this.#fold.count(counter)
  }

  get isChanged(): boolean {
    return this.#part !== undefined || this.#fold.counts.size > 0
  }

  /** The first journal entry that is not written; undefined: all are. */
  get firstUnwritten(): number | undefined {
    return this.#part?.firstId ?? this.#firstId
  }

  /**
   * Returns what the next transaction has to write. If that fails, returns the same part again, until it is
   * known to be written: the failed transaction may have been committed. Later beacons go into the part
   * after it.
   */
  takePart(checkpoint: number): Part {
    if (this.#part === undefined) {
      this.#part = { fold: this.#fold, checkpoint, firstId: this.#firstId }
      this.#fold = this.#newFold()
      this.#firstId = undefined
    }
    return this.#part
  }

  partWritten(): void {
    this.#part = undefined
    this.isAlone = false
  }

  /**
   * Keeps the names of a full day, and forgets days before yesterday: no beacon belongs to them any more. From now
   * on, beacons with other names of that day are counted together.
   */
  keepNames(kind: keyof FullDays, { day, names }: FullDay): void {
    const days = this.#full[kind]
    days.set(day, names)
    for (const old of days.keys()) if (old < day - 1) days.delete(old)
  }

  #newFold(): SiteFold {
    return new SiteFold(withoutStoredRows(this.#full), this.id)
  }
}

/** The names of full days. */
type FullNames = Readonly<Record<keyof FullDays, Map<number, readonly string[]>>>

/** For a fold that starts as if no row were stored. */
export function withoutStoredRows(full?: FullNames): KnownRows {
  const rows = { findLastId: () => 0 }
  return {
    ...{ hours: rows, days: rows, paths: rows },
    listPaths: (_, day) => full?.paths.get(day) ?? [],
    listErrorHashes: (_, day) => full?.errors.get(day) ?? [],
    listCauseLabels: (_, day) => full?.causes.get(day) ?? [],
    findCountedId: () => 0,
  }
}
