import type { GeolocationResult } from '../contract/geo/geolocation.ts'
import { createSpots, type Spot } from './map-spots.ts'
import { createSummary, type Summary } from './summary.ts'

/** Lengths of the lists in the summary. */
const TOP = 10

/** Where the rows of a list are. */
export interface PlaceCounts {
  /** Its `privacy` is only there if an address has a flag. */
  readonly summary: Summary
  readonly spots: readonly Spot[]
  /** The number of rows whose address has no coordinates. */
  readonly elsewhere: number
}

/** Counts the rows of a list by where their addresses are. */
export function createPlaceCounts() {
  const summary = createSummary({ top: TOP, include: ['privacy'] })
  const spots = createSpots()
  return {
    /** Adds rows without an address. */
    addWithout: (rows: number) => summary.addInvalid(rows),
    /** Adds rows with the same address. */
    add: (address: string, result: GeolocationResult, rows: number) => {
      summary.add(address, result, rows)
      spots.add(result, rows)
    },
    counts: (): PlaceCounts => ({
      summary: withoutEmptyPrivacy(summary.summarize()),
      spots: spots.spots(),
      elsewhere: spots.elsewhere(),
    }),
  }
}

function withoutEmptyPrivacy({ privacy = {}, ...counts }: Summary): Summary {
  return Object.keys(privacy).length === 0 ? counts : { ...counts, privacy }
}
