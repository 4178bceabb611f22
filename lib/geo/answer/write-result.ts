import type { Precision } from '../../contract/geo/geolocation.ts'
import type { Address } from '../../parts/net/address.ts'
import { findCountry } from '../place/countries.ts'
import { countryFactsJson } from '../place/country-facts.ts'
import { LEVEL, type Level, type Named, type NetworkOwner, type Place } from '../place/finding.ts'
import { asciiJson } from '../place/json-text.ts'
import { type OtherCountries, othersJson } from '../place/other-countries.ts'
import type { PrivacyFinding } from '../privacy/finding.ts'
import type { Located } from './locate.ts'
import { utcOffset } from './timezones.ts'

interface ResultOptions {
  /** Epoch milliseconds, for `utcOffset`. */
  readonly now: number
  /** The caller is over the monthly cap: writes only the country, without `network` and extras. */
  readonly degraded: boolean
  readonly extras?: Extras | undefined
}

/** The parts of an answer that a caller must request. */
export interface Extras {
  /** The block around the address for which the answer is the same, in CIDR form. */
  readonly prefix: string | undefined
  readonly finding: PrivacyFinding | undefined
  /** Whether the answer says how often answers like it were right. */
  readonly hasConfidence: boolean
  /** Whether the answer has facts about the country. */
  readonly hasFacts?: boolean
  readonly others?: OtherCountries | undefined
}

const NO_EXTRAS: Extras = {
  prefix: undefined,
  finding: undefined,
  hasConfidence: false,
}

/** The part of `Located` that an answer needs. */
export interface LookupResult
  extends Pick<
    Located,
    'confidence' | 'measured' | 'timezone' | 'placeSources' | 'networkSources'
  > {
  readonly place: PlaceResult | undefined
  readonly network: Pick<NetworkOwner, 'json'> | undefined
}

export interface PlaceResult extends Pick<Place, 'level' | 'json'> {
  readonly country: Pick<Named, 'code'> | undefined
}

/**
 * Writes a `GeolocationResult` without its `meta`: `json` has the fields of the object, without braces. Names of
 * zones and providers need no escaping.
 */
export function writeResult(
  address: Address,
  located: LookupResult,
  { now, degraded, extras = NO_EXTRAS }: ResultOptions,
): { readonly json: string; readonly precision: Precision } {
  const { place } = located
  const level = degraded ? coarser(place?.level) : place?.level
  const network = degraded ? undefined : located.network
  const added = degraded ? NO_EXTRAS : extras
  const { prefix, finding } = added
  let json = `"query":{"type":"ip","value":"${address.text}","ipVersion":${address.version}}`
  const sources: string[] = []
  if (place !== undefined && level !== undefined) {
    const location = locationJson(place, level, located, now)
    json += `,"location":{${withExtras(location, place, located, added)}}`
    sources.push(sourcesJson(located, level, network !== undefined))
  } else if (network !== undefined) {
    sources.push(`"asn":${listJson(located.networkSources)}`)
  }
  if (prefix !== undefined) json += `,"network":${withPrefix(network, prefix)}`
  else if (network !== undefined) json += `,"network":${network.json}`
  if (finding !== undefined) {
    json += `,"privacy":${asciiJson(finding.privacy)}`
    sources.push(`"privacy":${asciiJson(finding.sources)}`)
  }
  if (sources.length > 0) json += `,"sources":{${sources.join(',')}}`
  return { json, precision: precisionOf(level) }
}

function withPrefix(network: LookupResult['network'], prefix: string): string {
  const field = `"prefix":"${prefix}"}`
  return network === undefined ? `{${field}` : `${network.json.slice(0, -1)},${field}`
}

const PRECISION = {
  [LEVEL.continent]: 'continent',
  [LEVEL.country]: 'country',
  [LEVEL.region]: 'region',
  [LEVEL.city]: 'city',
} as const satisfies Record<Level, Precision>

/** Returns `none` if the location is unknown. */
function precisionOf(level: Level | undefined): Precision {
  return level === undefined ? 'none' : PRECISION[level]
}

function coarser(level: Level | undefined): Level | undefined {
  return level === undefined || level < LEVEL.country ? level : LEVEL.country
}

/** The fields that each level of precision allows. */
function locationJson(
  { json }: PlaceResult,
  level: Level,
  located: LookupResult,
  now: number,
): string {
  if (level <= LEVEL.country) return json.country
  let text = json.countryWithEmblems
  if (json.region !== '') text += `,${json.region}`
  if (level === LEVEL.city && json.city !== '') text += `,${json.city}`
  if (located.timezone !== undefined) text += `,${timezoneJson(located.timezone.name, now)}`
  else text += commonOffsetJson(located, now)
  if (located.confidence !== undefined) text += `,"geoConfidence":${located.confidence}`
  return text
}

function withExtras(
  location: string,
  place: PlaceResult,
  located: LookupResult,
  extras: Extras,
): string {
  if (extras === NO_EXTRAS) return location
  const known = extras.hasFacts === true ? withFacts(location, place) : location
  return `${known}${confidenceJson(place, located, extras)}${othersJson(extras.others)}`
}

/** Adds facts to the country, which is the last object in the first part of `location`. */
function withFacts(location: string, { json, country }: PlaceResult): string {
  const facts = country === undefined ? '' : countryFactsJson(country.code)
  if (facts === '') return location
  const { countryWithEmblems } = json
  const first = location.startsWith(countryWithEmblems) ? countryWithEmblems : json.country
  return `${first.slice(0, -1)},${facts}}${location.slice(first.length)}`
}

/** The shares of what the answer names; empty if they are not asked for or were not measured. */
function confidenceJson(
  { level, json }: PlaceResult,
  { measured }: LookupResult,
  { hasConfidence }: Extras,
): string {
  if (!hasConfidence || measured === undefined || level < LEVEL.country) return ''
  const { country, region, city } = measured
  const shares = {
    country,
    ...(json.region !== '' && { region }),
    ...(level === LEVEL.city && { city }),
  }
  return `,"confidence":${JSON.stringify(shares)}`
}

function timezoneJson(name: string, now: number): string {
  const offset = utcOffset(name, now)
  return offset === undefined
    ? `"timezone":"${name}"`
    : `"timezone":"${name}","utcOffset":"${offset}"`
}

/** The offset that all timezones of the country have, if it is not known in which of them the place is. */
function commonOffsetJson({ place }: LookupResult, now: number): string {
  const zone = commonTimeOf(place)
  const offset = zone === undefined ? undefined : utcOffset(zone, now)
  return offset === undefined ? '' : `,"utcOffset":"${offset}"`
}

function commonTimeOf(place: LookupResult['place']): string | undefined {
  return place?.country && findCountry(place.country.code)?.commonTime
}

function sourcesJson(located: LookupResult, level: Level, withNetwork: boolean): string {
  const { place, placeSources, networkSources } = located
  const zoneSource = located.timezone?.source ?? (commonTimeOf(place) && 'country')
  // At the coarser levels only the provider that decided the country has data in the answer.
  const places = level > LEVEL.country ? listJson(placeSources) : `["${placeSources[0]}"]`
  const network = withNetwork ? `,"asn":${listJson(networkSources)}` : ''
  const zone = level > LEVEL.country && zoneSource ? `,"tz":["${zoneSource}"]` : ''
  return `"geo":${places}${network}${zone}`
}

function listJson(names: readonly string[]): string {
  return names.length === 1 ? `["${names[0]}"]` : `["${names.join('","')}"]`
}
