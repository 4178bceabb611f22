import type { Address } from '../address.ts'
import { confidence, sameCity } from './confidence.ts'
import { findCountry } from './countries.ts'
import type { GeoDatabase } from './database.ts'
import { LEVEL, type NetworkOwner, type Place } from './finding.ts'
import { mergeOwners } from './network-owner.ts'
import { cityJson } from './place-json.ts'
import { zoneAt } from './timezones.ts'

/** What all databases together say of an address. */
export interface Located {
  readonly place: Place | undefined
  /** 0 to 1; undefined where only one provider located the address. */
  readonly confidence: number | undefined
  readonly timezone: { readonly name: string; readonly source: string } | undefined
  readonly network: NetworkOwner | undefined
  /** Providers whose data is in `place` and `network`, in order of priority. */
  readonly placeSources: readonly string[]
  readonly networkSources: readonly string[]
}

interface Witness {
  readonly provider: string
  readonly place: Place
}

/** Asks `databases` in order of priority and merges what they find. */
export function locate(databases: readonly GeoDatabase[], address: Address): Located {
  const witnesses: Witness[] = []
  let owner = NOBODY
  for (const { provider, find } of databases) {
    const { place, network } = find(address)
    if (place !== undefined) witnesses.push({ provider, place })
    if (network !== undefined) owner = joinOwner(owner, network, provider)
  }
  const { network, networkSources } = owner
  const first = decidingWitness(witnesses)
  if (first === undefined) return { ...NOWHERE, network, networkSources }
  const finest = finestAgreeing(first, witnesses)
  const { place, sources } = joinPlaces(first, finest, witnesses)
  const second = otherProvider(first, witnesses)
  return {
    place,
    confidence: second && confidence(first.place, second.place),
    timezone: chooseTimezone(finest, first, place),
    network,
    placeSources: sources,
    networkSources,
  }
}

type Owner = Pick<Located, 'network' | 'networkSources'>

const NOBODY: Owner = { network: undefined, networkSources: [] }

/** The first network decides; later ones fill gaps. */
function joinOwner(owner: Owner, network: NetworkOwner, provider: string): Owner {
  if (owner.network === undefined) return { network, networkSources: [provider] }
  const joined = mergeOwners(owner.network, network)
  if (joined === owner.network) return owner
  const networkSources = [...owner.networkSources]
  addSource(networkSources, provider)
  return { network: joined, networkSources }
}

const NOWHERE = {
  place: undefined,
  confidence: undefined,
  timezone: undefined,
  placeSources: [],
} as const

/** The first that knows the country; else the first that knows a continent. */
function decidingWitness(witnesses: readonly Witness[]): Witness | undefined {
  for (const witness of witnesses) if (witness.place.country !== undefined) return witness
  return witnesses[0]
}

function otherProvider(first: Witness, witnesses: readonly Witness[]): Witness | undefined {
  for (const other of witnesses) {
    if (other.provider !== first.provider && other.place.country !== undefined) return other
  }
  return undefined
}

/**
 * The witness whose finer fields are taken: the first of the finest level among those that agree
 * with `first` on the country and, where both know it, on the region.
 */
function finestAgreeing(first: Witness, witnesses: readonly Witness[]): Witness {
  let finest = first
  for (const other of witnesses) {
    if (other.place.level > finest.place.level && agrees(first.place, other.place)) finest = other
  }
  return finest
}

function agrees(first: Place, other: Place): boolean {
  if (first.country?.code !== other.country?.code) return false
  return (
    first.region === undefined ||
    other.region === undefined ||
    first.region.code === other.region.code
  )
}

/**
 * Joins the country and region of `first`, the finer fields of `finest`, and what only others
 * know that name the same city: an answer never joins one town's name to another town's
 * coordinates.
 */
function joinPlaces(first: Witness, finest: Witness, witnesses: readonly Witness[]) {
  let place = finest === first ? first.place : refine(first.place, finest.place)
  const sources = [first.provider]
  addSource(sources, finest.provider)
  for (const { provider, place: other } of witnesses) {
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

/** The finer fields of `finest` under the continent, country and region that `first` decided. */
function refine(first: Place, finest: Place): Place {
  return {
    continent: first.continent,
    country: first.country,
    region: first.region ?? finest.region,
    district: finest.district,
    city: finest.city,
    postalCode: finest.postalCode,
    coordinates: finest.coordinates,
    timezone: finest.timezone,
    level: finest.level,
    json: {
      country: first.json.country,
      countryWithEmblems: first.json.countryWithEmblems,
      region: first.region === undefined ? finest.json.region : first.json.region,
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
 * The timezone of the finest record; else of its coordinates, if it locates a city; else of the
 * deciding record; else of a country with a single zone.
 */
function chooseTimezone(finest: Witness, first: Witness, place: Place): Located['timezone'] {
  if (finest.place.timezone !== undefined) {
    return { name: finest.place.timezone, source: finest.provider }
  }
  const { coordinates } = place
  if (place.level === LEVEL.city && coordinates !== undefined) {
    const zone = zoneAt(coordinates.latitude, coordinates.longitude)
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
