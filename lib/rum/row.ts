import type { Measures } from './measures.ts'
import { decodeMeasures, encodeMeasures } from './measures-blob.ts'
import type { Stored, StoredRow } from './store.ts'

/** What is counted and measured of one thing: a country and device in an hour, a page in a day. */
export interface Row {
  samples: number
  readonly measures: Measures
}

/** A row in memory, with all that is stored of it. */
export interface LiveRow extends Row {
  /** The last entry of the journal that is in it. */
  lastId: number
  /** The last one that is in what is stored of it. */
  savedId: number
}

/** Throws where what is stored cannot be read. */
export function toRow({ samples, sketches }: Stored): Row {
  return { samples, measures: decodeMeasures(sketches) }
}

/** Throws where what is stored cannot be read. */
export function toLiveRow(stored: StoredRow | undefined): LiveRow {
  if (stored === undefined) return { samples: 0, measures: {}, lastId: 0, savedId: 0 }
  return { ...toRow(stored), lastId: stored.lastId, savedId: stored.lastId }
}

export function toStored({ samples, measures, lastId }: LiveRow): StoredRow {
  return { samples, sketches: encodeMeasures(measures), lastId }
}

export function isChanged({ lastId, savedId }: LiveRow): boolean {
  return lastId > savedId
}
