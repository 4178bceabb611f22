import type { GeolocationResult } from '../contract/geo/geolocation.ts'

/** Addresses that are near each other on the map of the world. */
export interface Spot {
  /** The mean of their coordinates, in degrees. */
  readonly latitude: number
  readonly longitude: number
  readonly count: number
  /** The place of most of them, such as London, GB. */
  readonly place: string
}

/** The side of the squares into which the map is divided. Limits the number of spots. */
const SQUARE_DEGREES = 3

interface Square {
  latitudes: number
  longitudes: number
  count: number
  readonly places: Map<string, number>
}

/** Collects where addresses are, so that any number of them is quickly drawn. */
export function createSpots() {
  const squares = new Map<string, Square>()
  let elsewhere = 0
  return {
    /** Adds `count` addresses with this result. */
    add: ({ location }: GeolocationResult, count = 1) => {
      const point = location?.coordinates
      if (point === undefined) {
        elsewhere += count
        return
      }
      const { latitude, longitude } = point
      const key = `${squareOf(latitude)} ${squareOf(longitude)}`
      const square = squares.get(key) ?? {
        latitudes: 0,
        longitudes: 0,
        count: 0,
        places: new Map(),
      }
      squares.set(key, square)
      square.latitudes += latitude * count
      square.longitudes += longitude * count
      square.count += count
      const place = nameOfPlace(location)
      square.places.set(place, (square.places.get(place) ?? 0) + count)
    },
    /** The spots, those with the most addresses first. */
    spots: (): Spot[] => [...squares.values()].map(toSpot).sort((a, b) => b.count - a.count),
    /** The number of addresses without coordinates. */
    elsewhere: () => elsewhere,
  }
}

function squareOf(degrees: number): number {
  return Math.floor(degrees / SQUARE_DEGREES)
}

function nameOfPlace(location: GeolocationResult['location']): string {
  const { city, region, country } = location ?? {}
  return [city ?? region?.name, country?.code].filter(Boolean).join(', ')
}

function toSpot({ latitudes, longitudes, count, places }: Square): Spot {
  const [place = ''] = [...places].sort(([, a], [, b]) => b - a)[0] ?? []
  return { latitude: latitudes / count, longitude: longitudes / count, count, place }
}
