import type { GeolocationResult } from '../lib/contract/geo/geolocation.ts'

type Location = NonNullable<GeolocationResult['location']>

/** The place as one line, from the smallest part to the largest; null if unknown. */
export function placeOf({ location }: GeolocationResult): string | null {
  if (location === undefined) return null
  const { city, district, region, country, continent } = location
  const names = [city, district, region?.name, country?.name ?? continent.name]
  return [...new Set(names.filter((name) => name !== undefined))].join(', ')
}

/** Everything else that is known about the address, each fact with its name. */
export function factsOf(result: GeolocationResult): [name: string, value: string][] {
  const { location, network, sources } = result
  const facts = [
    ['Postal code', location?.postalCode],
    ['Coordinates', location && coordinatesOf(location)],
    ['Accuracy', accuracyOf(location)],
    ['Time', location && timeOf(location)],
    ['Network', join([network?.asn, network?.organization, network?.domain])],
    ['Member of', join(location?.country?.unions ?? [])],
    ['Precision', precisionOf(result)],
    ['Providers agree', confidenceOf(location)],
    ['Sources', join([...new Set(Object.values(sources ?? {}).flat())])],
  ] as const
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
}

function join(texts: readonly (string | undefined)[]): string | undefined {
  const known = texts.filter((text) => text !== undefined)
  return known.length === 0 ? undefined : known.join(', ')
}

function coordinatesOf({ coordinates }: Location): string | undefined {
  if (coordinates === undefined) return undefined
  const { latitude, longitude } = coordinates
  return `${degrees(latitude, 'N', 'S')}, ${degrees(longitude, 'E', 'W')}`
}

function degrees(value: number, positive: string, negative: string): string {
  return `${Math.abs(value).toFixed(4)}°\u00a0${value < 0 ? negative : positive}`
}

function accuracyOf(location: Location | undefined): string | undefined {
  const miles = location?.coordinates?.accuracyRadius
  if (miles === undefined) return undefined
  return miles === 1 ? 'within 1 mile' : `within ${miles} miles`
}

function timeOf({ timezone, utcOffset }: Location): string | undefined {
  return join([timezone, utcOffset && `UTC${utcOffset}`])
}

function precisionOf({ meta }: GeolocationResult): string | undefined {
  return meta?.precision === 'none' ? undefined : meta?.precision
}

function confidenceOf(location: Location | undefined): string | undefined {
  const confidence = location?.geoConfidence
  return confidence === undefined ? undefined : `${Math.round(confidence * 100)}%`
}
