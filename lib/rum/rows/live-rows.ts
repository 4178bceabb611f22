import type { Unwritten } from '../../db/flusher.ts'
import { addValues, type Measures, type Values } from '../sketch/measures.ts'
import type { RowTable, StoredRow } from '../store/rows.ts'

/** A row in memory. It includes the stored row of the same key. */
export interface LiveRow<Key> extends StoredRow {
  readonly key: Key
  samples: number
  readonly measures: Measures
  lastId: number
  /** The last journal entry that the stored row includes. */
  savedId: number
}

/** The rows of one site and table that beacons changed recently. */
export class LiveRows<Key extends object> {
  readonly #siteId: string
  readonly #table: RowTable<Key>
  readonly #rows = new Map<string, LiveRow<Key>>()

  constructor(siteId: string, table: RowTable<Key>) {
    this.#siteId = siteId
    this.#table = table
  }

  get size(): number {
    return this.#rows.size
  }

  /** Loads the row unless it is in memory. Throws if the stored row cannot be read. */
  load(key: Key): LiveRow<Key> {
    const name = Object.values(key).join(' ')
    const known = this.#rows.get(name)
    if (known !== undefined) return known
    const stored = this.#table.find(this.#siteId, key) ?? { samples: 0, measures: {}, lastId: 0 }
    const row = { key, ...stored, savedId: stored.lastId }
    this.#rows.set(name, row)
    return row
  }

  keys(): Key[] {
    return Array.from(this.#rows.values(), ({ key }) => key)
  }

  /** The rows that are newer than their stored copies. */
  changed(): LiveRow<Key>[] {
    return [...this.#rows.values()].filter(isChanged)
  }

  /** The writes of the changed rows. */
  writes(): Unwritten[] {
    return this.changed().map((row) => ({
      // Another checkpoint may have written the row in the meantime.
      write: () => {
        if (isChanged(row)) this.#table.save(this.#siteId, row.key, row)
      },
      written: () => {
        row.savedId = row.lastId
      },
    }))
  }

  forgetSaved(): void {
    for (const [name, row] of this.#rows) {
      if (!isChanged(row)) this.#rows.delete(name)
    }
  }
}

/** Adds the values of a journal entry unless the row already includes it. */
export function addToRow(row: LiveRow<unknown>, id: number, values: Values): void {
  if (id <= row.lastId) return
  row.samples += 1
  row.lastId = id
  addValues(row.measures, values)
}

function isChanged({ lastId, savedId }: LiveRow<unknown>): boolean {
  return lastId > savedId
}
