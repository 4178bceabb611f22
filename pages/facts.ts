import { databaseName } from '../lib/contract/geo/database-names.ts'
import type { GeolocationResult, Precision } from '../lib/contract/geo/geolocation.ts'
import type { HealthStatus } from '../lib/contract/system.ts'
import { percent } from './dashboard/parts/format.ts'

type Coded = Precision | HealthStatus['status'] | keyof HealthStatus['checks']

/** What pages call the identifiers of the API. */
const LABELS = {
  city: 'City',
  region: 'Region',
  country: 'Country',
  continent: 'Continent',
  none: 'Unknown',

  ok: 'Fine',
  degraded: 'Degraded',
  geolocation: 'Look-ups',
  database: 'Database',

  active: 'Active',
  canceled: 'Cancelled',
  canceling: 'Cancelled',
  incomplete: 'Incomplete',
  incomplete_expired: 'Expired before it was paid',
  past_due: 'Past due',
  paused: 'Paused',
  trialing: 'Trial',
  unpaid: 'Unpaid',

  publishable: 'Publishable',
  secret: 'Secret',
} satisfies Readonly<Record<Coded, string>> & Readonly<Record<string, string>>

const BY_ID: ReadonlyMap<string, string> = new Map(Object.entries(LABELS))

/** What pages call a state or a type of the API; unknown ones keep their names. */
export function labelOf(id: string): string {
  return BY_ID.get(id) ?? id
}

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
  const { location, network } = result
  const facts = [
    ['Postal code', location?.postalCode],
    ['Coordinates', location && coordinatesOf(location)],
    ['Accuracy', accuracyOf(location)],
    ['Time', location && timeOf(location)],
    ['Network', join([network?.asn, network?.organization, network?.domain])],
    ['Member of', join(location?.country?.unions ?? [])],
    ['Precision', precisionOf(result)],
    ['Providers agree', confidenceOf(location)],
    ['Sources', join(sourcesOf(result))],
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
  const { precision = 'none' } = meta ?? {}
  return precision === 'none' ? undefined : labelOf(precision)
}

function sourcesOf({ sources = {} }: GeolocationResult): string[] {
  const { geo = [], asn = [], tz = [], privacy = [] } = sources
  return [...new Set([...geo, ...asn, ...tz, ...privacy])].map(databaseName)
}

function confidenceOf(location: Location | undefined): string | undefined {
  const confidence = location?.geoConfidence
  return confidence === undefined ? undefined : percent(confidence)
}
