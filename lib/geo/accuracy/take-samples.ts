import type { Coordinates } from '../place/finding.ts'
import type { Sample } from './answer.ts'
import type { FindCity } from './gazetteer.ts'
import { createPickAddress } from './pick-address.ts'
import type { Truth, TruthRow } from './read-truth.ts'

/** Where the coordinates of the cities come from. */
export interface CityCounts {
  /** The file has them. */
  readonly inFile: number
  /** The gazetteer has them. */
  readonly byName: number
  /** The gazetteer does not have the name. */
  readonly unknown: number
  /** The name means several places. */
  readonly ambiguous: number
  /** There is no gazetteer. */
  readonly notLookedUp: number
}

export interface Samples {
  readonly samples: readonly Sample[]
  /** Prefixes that are left out because narrower ones of the file cover them. */
  readonly covered: number
  readonly cities: CityCounts
}

/** Whether the file names cities without coordinates. */
export function needsGazetteer({ rows }: Truth): boolean {
  return rows.some(({ city, coordinates }) => city !== undefined && coordinates === undefined)
}

/**
 * Picks an address of each prefix, and finds the coordinates of cities that have none. A city that is not found
 * does not count as a city. `findCity`: undefined if there is no gazetteer.
 */
export function takeSamples(truth: Truth, findCity: FindCity | undefined): Samples {
  const pickAddress = createPickAddress(truth.networks)
  const cities = { inFile: 0, byName: 0, unknown: 0, ambiguous: 0, notLookedUp: 0 }
  const samples: Sample[] = []
  for (const row of truth.rows) {
    const address = pickAddress(row.network)
    if (address === undefined) continue
    const { coordinates, source } = findCoordinates(row, findCity)
    if (source !== undefined) cities[source] += 1
    samples.push({ ...row, address, coordinates })
  }
  return { samples, covered: truth.rows.length - samples.length, cities }
}

function findCoordinates(
  { country, region, city, coordinates }: TruthRow,
  findCity: FindCity | undefined,
): { readonly coordinates: Coordinates | undefined; readonly source?: keyof CityCounts } {
  if (coordinates !== undefined) return { coordinates, source: 'inFile' }
  if (city === undefined) return { coordinates }
  const found = findCity?.({ country, region, city }) ?? 'notLookedUp'
  return typeof found === 'string'
    ? { coordinates: undefined, source: found }
    : { coordinates: found, source: 'byName' }
}
