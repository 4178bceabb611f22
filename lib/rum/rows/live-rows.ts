import { addMeasures, addValues, type Measures, type Values } from '../sketch/measures.ts'
import type { Row } from '../store/row.ts'

/** The part of a row that is not stored yet: the totals of the entries after `savedId`. */
export interface LiveRow<Key> {
  readonly key: Key
  samples: number
  measures: Measures
  /** The last journal entry that the row includes. */
  lastId: number
  /** The last journal entry that the stored row includes. */
  savedId: number
}

/**
 * The rows of one site and table that beacons changed recently. They do not hold the distributions of
 * their stored copies, which may have a thousand centroids for each metric.
 */
export class LiveRows<Key extends object> {
  readonly #findSavedId: (key: Key) => number
  readonly #rows = new Map<string, LiveRow<Key>>()

  /** `findSavedId` finds the last journal entry that a stored row includes; 0 if there is no row. */
  constructor(findSavedId: (key: Key) => number) {
    this.#findSavedId = findSavedId
  }

  get size(): number {
    return this.#rows.size
  }

  /** Finds or starts the row. Throws if the database cannot be read. */
  load(key: Key): LiveRow<Key> {
    const name = Object.values(key).join(' ')
    const known = this.#rows.get(name)
    if (known !== undefined) return known
    const savedId = this.#findSavedId(key)
    const row = { key, samples: 0, measures: {}, lastId: savedId, savedId }
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

  forgetSaved(): void {
    for (const [name, row] of this.#rows) {
      if (!isChanged(row)) this.#rows.delete(name)
    }
  }
}

/** Adds the values of a journal entry unless the row already includes it. */
export function addToRow(row: LiveRow<unknown>, id: number, values: Values): void {
  if (id <= row.lastId) return
  row.lastId = id
  row.samples += 1
  addValues(row.measures, values)
}

/** Adds the totals of the row to those of its stored copy. */
export function addToStored({ samples, measures }: LiveRow<unknown>, stored?: Row): Row {
  const all = { ...stored?.measures }
  addMeasures(all, measures)
  return { samples: samples + (stored?.samples ?? 0), measures: all }
}

export function isChanged({ lastId, savedId }: LiveRow<unknown>): boolean {
  return lastId > savedId
}
