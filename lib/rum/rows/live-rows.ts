import type { Unwritten } from '../../db/flusher.ts'
import { addValues, type Values } from '../sketch/measures.ts'
import type { Row, RowTable } from '../store/rows.ts'

/** A row that beacons changed recently: what its stored copy lacks. */
export interface LiveRow<Key> {
  readonly key: Key
  /** The last journal entry that the row includes. */
  lastId: number
  /** The last journal entry that the stored row includes. */
  savedId: number
  /** The values of the entries after `savedId`, in order. */
  values: Values[]
}

/**
 * The rows of one site and table that beacons changed recently. They do not hold the distributions of
 * their stored copies, which may have a thousand centroids for each metric.
 */
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

  /** Finds or starts the row. Throws if the database cannot be read. */
  load(key: Key): LiveRow<Key> {
    const name = Object.values(key).join(' ')
    const known = this.#rows.get(name)
    if (known !== undefined) return known
    const savedId = this.#table.findLastId(this.#siteId, key)
    const row = { key, lastId: savedId, savedId, values: [] }
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

  /** Adds the values of the row to those of its stored copy. Throws if that cannot be read. */
  read({ key, values }: LiveRow<Key>): Row {
    const { samples, measures } = this.#table.find(this.#siteId, key) ?? EMPTY
    const all = { ...measures }
    for (const each of values) addValues(all, each)
    return { samples: samples + values.length, measures: all }
  }

  /** The writes of the changed rows. */
  writes(): Unwritten[] {
    return this.changed().map((row) => ({
      // Another checkpoint may have written the row in the meantime.
      write: () => {
        if (!isChanged(row)) return
        this.#table.save(this.#siteId, row.key, { ...this.read(row), lastId: row.lastId })
      },
      written: () => {
        row.savedId = row.lastId
        row.values = []
      },
    }))
  }

  forgetSaved(): void {
    for (const [name, row] of this.#rows) {
      if (!isChanged(row)) this.#rows.delete(name)
    }
  }
}

const EMPTY: Row = { samples: 0, measures: {} }

/** Adds the values of a journal entry unless the row already includes it. */
export function addToRow(row: LiveRow<unknown>, id: number, values: Values): void {
  if (id <= row.lastId) return
  row.lastId = id
  row.values.push(values)
}

function isChanged({ lastId, savedId }: LiveRow<unknown>): boolean {
  return lastId > savedId
}
