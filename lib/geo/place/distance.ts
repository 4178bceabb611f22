import type { Coordinates } from './finding.ts'

const EARTH_DIAMETER_KM = 12_742
const RADIANS = Math.PI / 180

/** Great-circle distance by the haversine formula. */
export function distanceKm(a: Coordinates, b: Coordinates): number {
  const sinLatitude = Math.sin(((b.latitude - a.latitude) * RADIANS) / 2)
  const sinLongitude = Math.sin(((b.longitude - a.longitude) * RADIANS) / 2)
  const squared =
    sinLatitude ** 2 +
    Math.cos(a.latitude * RADIANS) * Math.cos(b.latitude * RADIANS) * sinLongitude ** 2
  return EARTH_DIAMETER_KM * Math.asin(Math.min(1, Math.sqrt(squared)))
}
