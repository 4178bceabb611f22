import type { Address } from '../../parts/net/address.ts'
import type { GeoDatabase } from '../database.ts'
import { confidence, sameCity } from '../place/confidence.ts'
import { findCountry } from '../place/countries.ts'
import { LEVEL, type NetworkOwner, type Place, WITHHELD } from '../place/finding.ts'
import {
  areMeasured,
  type MeasuredConfidence,
  measuredConfidence,
} from '../place/measured-confidence.ts'
import { mergeOwners } from '../place/network-owner.ts'
import { cityJson } from '../place/place-json.ts'
import { timezoneAt } from '../place/timezone-at.ts'

/** The combined findings of all databases about an address. */
export interface Located {
  readonly place: Place | undefined
  /** 0 to 1; undefined unless two providers know the country. */
  readonly confidence: number | undefined
  /** The product with the finest field in `place`. */
  readonly finestProduct: string | undefined
  /** How often answers like this one were right; undefined if that was not measured. */
  readonly measured: MeasuredConfidence | undefined
  readonly timezone: { readonly name: string; readonly source: string } | undefined
  readonly network: NetworkOwner | undefined
  /** Providers of the data in `place`, in order of priority, then the one that confirms it. */
  readonly placeSources: readonly string[]
  /** Providers of the data in `network`, in order of priority. */
  readonly networkSources: readonly string[]
}

/** What `locate` needs of a database. */
export type SearchedDatabase = Pick<GeoDatabase, 'provider' | 'product' | 'find'>

/** One provider's place, which may become part of the answer. */
interface Candidate {
  readonly provider: string
  readonly product: string
  readonly place: Place
}

/** Looks the address up in all databases, in order of priority, and merges the findings. */
export function locate(databases: readonly SearchedDatabase[], address: Address): Located {
  const candidates: Candidate[] = []
  let owner = NO_OWNER
  let isWithheld = false
  for (const { provider, product, find } of databases) {
    const finding = find(address)
    const { place, network } = finding
    if (finding === WITHHELD) isWithheld = true
    if (place !== undefined && !isWithheld) candidates.push({ provider, product, place })
    if (network !== undefined) owner = joinOwner(owner, network, provider)
  }
  return merge(candidates, owner)
}

function merge(candidates: readonly Candidate[], { network, networkSources }: Owner): Located {
  const first = decidingCandidate(candidates)
  if (first === undefined) return { ...NO_PLACE, network, networkSources }
  const finest = finestAgreeing(first, candidates)
  const { place, sources } = joinPlaces(first, finest, candidates)
  // The witness must speak for the city in the answer.
  const subject = isVague(first) ? finest : first
  const second = otherProvider(subject, candidates)
  const agreement = second && confidence(subject.place, second.place)
  if (second && agreement) addSource(sources, second.provider)
  return {
    place,
    confidence: agreement,
    finestProduct: finest.product,
    measured: areMeasured(candidates)
      ? measuredConfidence(finest.product, agreement, place)
      : undefined,
    timezone: chooseTimezone(finest, first, place),
    network,
    placeSources: sources,
    networkSources,
  }
}

type Owner = Pick<Located, 'network' | 'networkSources'>

/** The owner part of a result if no database knows the network. */
export const NO_OWNER: Owner = { network: undefined, networkSources: [] }

/** The first network owner decides; later ones fill its gaps. */
function joinOwner(owner: Owner, network: NetworkOwner, provider: string): Owner {
  if (owner.network === undefined) return { network, networkSources: [provider] }
  const joined = mergeOwners(owner.network, network)
  if (joined === owner.network) return owner
  const networkSources = [...owner.networkSources]
  addSource(networkSources, provider)
  return { network: joined, networkSources }
}

/** The place part of a result if no database knows the place. */
export const NO_PLACE = {
  place: undefined,
  confidence: undefined,
  finestProduct: undefined,
  measured: undefined,
  timezone: undefined,
  placeSources: [],
} as const

/**
 * The first candidate with a country; else the first candidate, which has only a continent. One that knows
 * only where the network is registered gives way to another provider that knows more and names another country.
 */
function decidingCandidate(candidates: readonly Candidate[]): Candidate | undefined {
  const first = candidates.find(({ place }) => place.country !== undefined) ?? candidates[0]
  if (first === undefined || !repeatsRegistration(first, candidates)) return first
  const located = otherProvider(first, candidates)
  if (located === undefined || located.place.isOnlyRegistered) return first
  return located.place.country?.code === first.place.country?.code ? first : located
}

/** Whether it, or another file of its provider, knows only where the network is registered: a Country file cannot say so. */
function repeatsRegistration(first: Candidate, candidates: readonly Candidate[]): boolean {
  if (first.place.level !== LEVEL.country) return false
  return candidates.some(
    ({ provider, place }) =>
      provider === first.provider && place.isOnlyRegistered && isSameCountry(place, first.place),
  )
}

/** The first candidate with a country from another provider, preferably one that knows more than registration. */
function otherProvider(first: Candidate, candidates: readonly Candidate[]): Candidate | undefined {
  let registered: Candidate | undefined
  for (const other of candidates) {
    if (other.provider === first.provider || other.place.country === undefined) continue
    if (!other.place.isOnlyRegistered) return other
    registered ??= other
  }
  return registered
}

/**
 * The candidate that the finer fields come from: the first of the finest among those that agree with `first`
 * on the country and, if both know it, on the region.
 */
function finestAgreeing(first: Candidate, candidates: readonly Candidate[]): Candidate {
  let finest = first
  for (const other of candidates) {
    if (
      fineness(other) > fineness(finest) &&
      (isVague(first) ? isSameCountry : agrees)(first.place, other.place)
    ) {
      finest = other
    }
  }
  return finest
}

/** Of two records of one level, the vaguer one counts as less fine. */
function fineness(candidate: Candidate): number {
  const { level } = candidate.place
  return isVague(candidate) ? level - 0.5 : level
}

function agrees(first: Place, other: Place): boolean {
  if (!isSameCountry(first, other)) return false
  return (
    first.region === undefined ||
    other.region === undefined ||
    first.region.code === other.region.code
  )
}

/** 500 km. */
const VAGUE_MILES = 311

/** Those whose word is final: they know their own networks. */
const OPERATORS = new Set(['overlay', 'geofeed'])

/** Whether the radius is so large that region and city are rarely right: measured, see docs/accuracy.md. */
function isVague({ provider, place: { level, coordinates } }: Candidate): boolean {
  const radius = level > LEVEL.country ? (coordinates?.accuracyRadius ?? 0) : 0
  return radius >= VAGUE_MILES && !OPERATORS.has(provider)
}

function isSameCountry(first: Place, other: Place): boolean {
  return first.country?.code === other.country?.code
}

/**
 * Joins the country and region of `first`, the finer fields of `finest`, and the missing fields
 * from candidates that name the same city: an answer never joins one town's name to another town's
 * coordinates.
 */
function joinPlaces(first: Candidate, finest: Candidate, candidates: readonly Candidate[]) {
  let place = finest === first ? first.place : refine(first, finest.place)
  const sources = [first.provider]
  addSource(sources, finest.provider)
  for (const { provider, place: other } of candidates) {
    if (!addsCityFields(place, other) || !agrees(place, other) || !sameCity(place, other)) continue
    place = withCityFields(place, other)
    addSource(sources, provider)
  }
  return { place, sources }
}

function addsCityFields(place: Place, other: Place): boolean {
  return (
    (place.district === undefined && other.district !== undefined) ||
    (place.postalCode === undefined && other.postalCode !== undefined) ||
    (place.coordinates === undefined && other.coordinates !== undefined)
  )
}

/** The continent and country of `first` with the finer fields of `finest`, which may have no region. */
function refine(candidate: Candidate, finest: Place): Place {
  const first = candidate.place
  const { region, json } = isVague(candidate) || first.region === undefined ? finest : first
  return {
    continent: first.continent,
    country: first.country,
    region,
    district: finest.district,
    city: finest.city,
    postalCode: finest.postalCode,
    coordinates: finest.coordinates,
    timezone: finest.timezone,
    level: finest.level,
    isOnlyRegistered: false,
    json: {
      country: first.json.country,
      countryWithEmblems: first.json.countryWithEmblems,
      region: json.region,
      city: finest.json.city,
    },
  }
}

function withCityFields(place: Place, other: Place): Place {
  const { city } = place
  const district = place.district ?? other.district
  const postalCode = place.postalCode ?? other.postalCode
  const coordinates = place.coordinates ?? other.coordinates
  const json = { ...place.json, city: cityJson({ district, city, postalCode, coordinates }) }
  return { ...place, district, postalCode, coordinates, json }
}

/**
 * The timezone of the finest record; else of the city's coordinates; else of the deciding record;
 * else the country's only timezone.
 */
function chooseTimezone(finest: Candidate, first: Candidate, place: Place): Located['timezone'] {
  if (finest.place.timezone !== undefined) {
    return { name: finest.place.timezone, source: finest.provider }
  }
  const { coordinates } = place
  if (place.level === LEVEL.city && coordinates !== undefined) {
    const zone = timezoneAt(coordinates.latitude, coordinates.longitude)
    if (zone !== undefined) return { name: zone, source: 'coordinates' }
  }
  if (first.place.timezone !== undefined) {
    return { name: first.place.timezone, source: first.provider }
  }
  const single = place.country && findCountry(place.country.code)?.timezone
  return single === undefined ? undefined : { name: single, source: 'country' }
}

function addSource(sources: string[], provider: string): void {
  if (!sources.includes(provider)) sources.push(provider)
}
