import { distanceKm } from './distance.ts'
import type { Coordinates, Place } from './finding.ts'
import { plainName } from './plain-name.ts'

const SAME_CITY_KM = 50
const SAME_AREA_KM = 200

/**
 * How well two providers agree: 1 for the same country and the same city or at most 50 km apart;
 * 0.75 for the same region or at most 200 km apart; 0.5 for the same country; 0 for different
 * countries. Coordinates count only if both records locate a city: otherwise they are only
 * the centre of a country or region.
 */
export function confidence(first: Place, second: Place): number {
  if (first.country?.code !== second.country?.code) return 0
  if (first.city !== undefined && first.city === second.city) return 1
  const apart = kmApart(cityCoordinates(first), cityCoordinates(second))
  if (apart <= SAME_CITY_KM || sameCity(first, second)) return 1
  if (sameRegion(first, second) || apart <= SAME_AREA_KM) return 0.75
  return 0.5
}

/** Whether both name a city, and the same one. */
export function sameCity(first: Place, second: Place): boolean {
  if (first.city === undefined || second.city === undefined) return false
  return first.city === second.city || plainName(first.city) === plainName(second.city)
}

function sameRegion(first: Place, second: Place): boolean {
  return first.region !== undefined && first.region.code === second.region?.code
}

function cityCoordinates(place: Place): Coordinates | undefined {
  return place.city === undefined ? undefined : place.coordinates
}

/** Infinite if one of the two is unknown. */
function kmApart(a: Coordinates | undefined, b: Coordinates | undefined): number {
  return a === undefined || b === undefined ? Number.POSITIVE_INFINITY : distanceKm(a, b)
}
