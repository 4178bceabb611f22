import { distanceKm } from '../place/distance.ts'
import type { Coordinates } from '../place/finding.ts'
import { plainName } from '../place/plain-name.ts'

/** A place in a gazetteer. */
export interface GazetteerCity extends Coordinates {
  readonly name: string
  readonly country: string
  /** ISO 3166-2; undefined: the gazetteer's region has no known code. */
  readonly region: string | undefined
}

export interface NamedCity {
  readonly country: string
  readonly region: string | undefined
  readonly city: string
}

export type FindCity = (named: NamedCity) => Coordinates | 'unknown' | 'ambiguous'

/** Places of one name that are so close count as one. */
const SAME_PLACE_KM = 25

/**
 * Returns a function that finds the coordinates of a city by its name: only if all places of that name, in the
 * region if it is given, are close to each other. A region of another level than the gazetteer's does not
 * distinguish places.
 */
export function createFindCity(cities: Iterable<GazetteerCity>): FindCity {
  const byName = new Map<string, GazetteerCity[]>()
  const regions = new Set<string>()
  for (const city of cities) {
    const key = keyOf(city.country, city.name)
    const same = byName.get(key)
    if (same === undefined) byName.set(key, [city])
    else same.push(city)
    if (city.region !== undefined) regions.add(city.region)
  }
  return ({ country, region, city }) => {
    // GeoNames calls some cities New York City, Mexico City.
    const named =
      byName.get(keyOf(country, city)) ?? byName.get(keyOf(country, `${city} City`)) ?? []
    const isKnown = region !== undefined && regions.has(region)
    const found = isKnown ? named.filter((one) => one.region === region) : named
    const [first] = found
    if (first === undefined) return 'unknown'
    const isOne = found.every((other) => distanceKm(first, other) <= SAME_PLACE_KM)
    return isOne ? { latitude: first.latitude, longitude: first.longitude } : 'ambiguous'
  }
}

function keyOf(country: string, name: string): string {
  const plain = plainName(name).replaceAll(/\bsaint(e?)\b/g, 'st$1')
  return `${country} ${plain}`
}
