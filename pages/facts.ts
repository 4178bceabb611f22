import type { GeolocationResult } from '../lib/contract/geolocation.ts'

export interface Fact {
  readonly name: string
  readonly value: string
}

type Location = NonNullable<GeolocationResult['location']>

/** The place as one line, from the finest to the coarsest; null: not known. */
export function placeOf({ location }: GeolocationResult): string | null {
  if (location === undefined) return null
  const { city, district, region, country, continent } = location
  const names = [city, district, region?.name, country?.name ?? continent.name]
  return [...new Set(names.filter((name) => name !== undefined))].join(', ')
}

/** What is known beside the place, each with its name; what is unknown is left out. */
export function factsOf(result: GeolocationResult): Fact[] {
  const { location, network, sources } = result
  const facts = [
    ['Postal code', location?.postalCode],
    ['Coordinates', location && coordinatesOf(location)],
    ['Accuracy', accuracyOf(location)],
    ['Time', location && timeOf(location)],
    ['Network', join([network?.asn, network?.organization, network?.domain])],
    ['Unions', join(location?.country?.unions ?? [])],
    ['Precision', precisionOf(result)],
    ['Confidence', confidenceOf(location)],
    ['Sources', join([...new Set(Object.values(sources ?? {}).flat())])],
  ] as const
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]))
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
  return `${Math.abs(value).toFixed(4)}° ${value < 0 ? negative : positive}`
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
  return confidence === undefined ? undefined : `${Math.round(confidence * 100)} %`
}
