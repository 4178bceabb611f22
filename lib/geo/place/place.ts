import { splitCityName } from './city-name.ts'
import { continentName, findCountry } from './countries.ts'
import { currentCountryCode } from './country-code.ts'
import { type Coordinates, LEVEL, type Level, type Named, type Place } from './finding.ts'
import { cityJson, countryJson, regionJson } from './place-json.ts'
import { currentRegionCode } from './region-code.ts'

/** The unchecked fields of a place in a record. */
export interface RawPlace
  extends Partial<Pick<Place, 'region' | 'district' | 'city' | 'postalCode' | 'timezone'>> {
  readonly continent?: RawNamed
  readonly country?: RawNamed
  /**
   * Where the network is registered. Used if `country` is missing; finer fields are then dropped. A record
   * whose `country` is the same, and which names nothing finer, says no more than this.
   */
  readonly registeredCountry?: RawNamed
  readonly latitude?: number | undefined
  readonly longitude?: number | undefined
  readonly radiusKm?: number | undefined
}

export interface RawNamed {
  readonly code: string | undefined
  readonly name?: string | undefined
}

/** Returns the usable fields of a place, or undefined if not even the continent is known. */
export function toPlace(raw: RawPlace): Place | undefined {
  const own = toCountry(raw.country)
  const country = own ?? toCountry(raw.registeredCountry)
  const continent = toContinent(raw.continent, country?.code)
  if (continent === undefined) return undefined
  const finer = own === undefined ? {} : raw
  const { postalCode } = finer
  const region = finer.region && own && toRegion(finer.region, own.code)
  const { city, district = finer.district } = splitCityName(finer.city)
  const level = country === undefined ? LEVEL.continent : levelOf(finer)
  const coordinates = toCoordinates(finer)
  return {
    continent,
    country,
    region,
    district,
    city,
    postalCode,
    coordinates,
    timezone: toTimezone(finer.timezone),
    level,
    isOnlyRegistered:
      level === LEVEL.country && own?.code === toCountry(raw.registeredCountry)?.code,
    json: {
      ...countryJson(continent, country),
      region: regionJson(region),
      city: cityJson({ district, city, postalCode, coordinates }),
    },
  }
}

function levelOf(raw: RawPlace): Level {
  if (raw.city !== undefined) return LEVEL.city
  return raw.region === undefined ? LEVEL.country : LEVEL.region
}

/** Some files use ZZ, EU and other codes for "no country", or codes that ISO 3166-1 has replaced. */
export function toCountry(raw: RawNamed | undefined): Named | undefined {
  if (raw?.code === undefined) return undefined
  const known = findCountry(currentCountryCode(raw.code))
  if (known === undefined) return undefined
  const { code, name } = known
  return { code, name: code === raw.code ? (raw.name ?? name) : name }
}

/** The region's code begins with the code that the file has for its country. */
function toRegion({ code, name }: Named, country: string): Named {
  return { code: currentRegionCode(`${country}${code.slice(2)}`), name }
}

function toContinent(raw: RawNamed | undefined, country: string | undefined) {
  const known = country === undefined ? undefined : findCountry(country)?.continent
  const code = raw?.code
  if (code === undefined) return known
  return { code, name: raw?.name ?? continentName(code) ?? code }
}

/** Accepts only texts in the form of an IANA name, which need no escaping in JSON. */
function toTimezone(name: string | undefined): string | undefined {
  return name !== undefined && /^[\w+-]+(\/[\w+-]+)*$/.test(name) ? name : undefined
}

const MILES_PER_KM = 0.621371

function toCoordinates({ latitude, longitude, radiusKm }: RawPlace): Coordinates | undefined {
  if (latitude === undefined || longitude === undefined) return undefined
  if (Math.abs(latitude) > 90 || Math.abs(longitude) > 180) return undefined
  // Files write this point in the ocean where they know none.
  if (latitude === 0 && longitude === 0) return undefined
  if (radiusKm === undefined || radiusKm < 0) return { latitude, longitude }
  const accuracyRadius = Math.max(1, Math.round(radiusKm * MILES_PER_KM))
  return { latitude, longitude, accuracyRadius }
}
