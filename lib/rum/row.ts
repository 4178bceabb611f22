import type { Measures } from './measures.ts'
import { decodeMeasures, encodeMeasures } from './measures-blob.ts'
import type { Stored } from './store.ts'

/** What is counted and measured of one thing: a country and device in an hour, a page in a day. */
export interface Row {
  samples: number
  readonly measures: Measures
}

/** Throws where what is stored cannot be read. */
export function toRow(stored: Stored | undefined): Row {
  if (stored === undefined) return { samples: 0, measures: {} }
  return { samples: stored.samples, measures: decodeMeasures(stored.sketches) }
}

export function toStored({ samples, measures }: Row): Stored {
  return { samples, sketches: encodeMeasures(measures) }
}
