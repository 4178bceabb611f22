import type { Address } from '../address.ts'
import type { Precision } from '../contract/geolocation.ts'
import { LEVEL, type Level, type NetworkOwner, type Place } from './finding.ts'
import type { Located } from './locate.ts'
import { utcOffset } from './timezones.ts'

/** A GeolocationResult, section 2.1 of the contract, but for its `meta`. */
export interface Description {
  /** The fields query, location, network and sources as parts of a JSON object, without braces. */
  readonly json: string
  readonly precision: Precision
}

export interface DescribeOptions {
  /** Epoch milliseconds, for `utcOffset`. */
  readonly now: number
  /** Reduce to country precision without `network`: the caller is over the monthly cap. */
  readonly degraded: boolean
}

/** What an answer is made of. */
export interface Describable
  extends Pick<Located, 'confidence' | 'timezone' | 'placeSources' | 'networkSources'> {
  readonly place: Pick<Place, 'level' | 'json'> | undefined
  readonly network: Pick<NetworkOwner, 'json'> | undefined
}

/** Shapes what is known of `address`. Names of zones and providers hold nothing to escape. */
export function describe(
  address: Address,
  located: Describable,
  { now, degraded }: DescribeOptions,
): Description {
  const { place } = located
  const level = degraded ? coarser(place?.level) : place?.level
  const query = `"query":{"type":"ip","value":"${address.text}","ipVersion":${address.version}}`
  const precision = level === undefined ? 'none' : PRECISION[level]
  const network = degraded ? undefined : located.network
  if (place === undefined || level === undefined) {
    if (network === undefined) return { json: query, precision }
    const sources = `"sources":{"asn":${listJson(located.networkSources)}}`
    return { json: `${query},"network":${network.json},${sources}`, precision }
  }
  const location = `"location":{${locationJson(place, level, located, now)}}`
  const owner = network === undefined ? '' : `,"network":${network.json}`
  const sources = sourcesJson(located, level, network !== undefined)
  return { json: `${query},${location}${owner},"sources":{${sources}}`, precision }
}

const PRECISION = {
  [LEVEL.continent]: 'continent',
  [LEVEL.country]: 'country',
  [LEVEL.region]: 'region',
  [LEVEL.city]: 'city',
} as const satisfies Record<Level, Precision>

function coarser(level: Level | undefined): Level | undefined {
  return level === undefined || level < LEVEL.country ? level : LEVEL.country
}

/** The fields that each level allows: the precision table of section 2.1. */
function locationJson(
  { json }: Pick<Place, 'json'>,
  level: Level,
  located: Describable,
  now: number,
): string {
  if (level <= LEVEL.country) return json.country
  let text = json.countryWithEmblems
  if (json.region !== '') text += `,${json.region}`
  if (level === LEVEL.city && json.city !== '') text += `,${json.city}`
  if (located.timezone !== undefined) text += `,${timezoneJson(located.timezone.name, now)}`
  if (located.confidence !== undefined) text += `,"geoConfidence":${located.confidence}`
  return text
}

function timezoneJson(name: string, now: number): string {
  const offset = utcOffset(name, now)
  return offset === undefined
    ? `"timezone":"${name}"`
    : `"timezone":"${name}","utcOffset":"${offset}"`
}

function sourcesJson(located: Describable, level: Level, withNetwork: boolean): string {
  const { placeSources, networkSources, timezone } = located
  // At the coarser levels only the provider that decided the country has data in the answer.
  const places = level > LEVEL.country ? listJson(placeSources) : `["${placeSources[0]}"]`
  const network = withNetwork ? `,"asn":${listJson(networkSources)}` : ''
  const zone = level > LEVEL.country && timezone !== undefined ? `,"tz":["${timezone.source}"]` : ''
  return `"geo":${places}${network}${zone}`
}

function listJson(names: readonly string[]): string {
  return names.length === 1 ? `["${names[0]}"]` : `["${names.join('","')}"]`
}
