import { BoundedCache } from '../bounded-cache.ts'
import { continentName, findCountry } from './countries.ts'
import { type Coordinates, LEVEL, type Level, type Named, type Place } from './finding.ts'
import { cityJson, countryJson, regionJson } from './place-json.ts'

/** The fields of a place as a record has them, before they are checked. */
export interface RawPlace {
  readonly continent?: RawNamed
  readonly country?: RawNamed
  /** Where the address is registered: stands in for a missing country, and is all then. */
  readonly registeredCountry?: RawNamed
  readonly region?: Named | undefined
  readonly district?: string | undefined
  readonly city?: string | undefined
  readonly postalCode?: string | undefined
  readonly latitude?: number | undefined
  readonly longitude?: number | undefined
  readonly radiusKm?: number | undefined
  readonly timezone?: string | undefined
}

export interface RawNamed {
  readonly code: string | undefined
  readonly name?: string | undefined
}

/** Returns the place with only what is usable, or undefined where not even a continent is known. */
export function toPlace(raw: RawPlace): Place | undefined {
  const own = toCountry(raw.country)
  const country = own ?? toCountry(raw.registeredCountry)
  const continent = toContinent(raw.continent, country?.code)
  if (continent === undefined) return undefined
  const finer = own === undefined ? {} : raw
  const { region, district, city, postalCode } = finer
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
    level: country === undefined ? LEVEL.continent : levelOf(finer),
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

/** ZZ and the like stand for "no country" in some files. */
function toCountry(raw: RawNamed | undefined): Named | undefined {
  const code = raw?.code
  if (code === undefined) return undefined
  const known = findCountry(code)
  if (known === undefined && (code === 'ZZ' || !/^[A-Z]{2}$/.test(code))) return undefined
  return { code, name: raw?.name ?? known?.name ?? code }
}

function toContinent(raw: RawNamed | undefined, country: string | undefined) {
  const known = country === undefined ? undefined : findCountry(country)?.continent
  const code = raw?.code
  if (code === undefined) return known
  return { code, name: raw?.name ?? continentName(code) ?? code }
}

/** Only what has the form of an IANA name, which also needs no escaping in JSON. */
function toTimezone(name: string | undefined): string | undefined {
  if (name === undefined) return undefined
  let isName = zoneNames.get(name)
  if (isName === undefined) {
    isName = /^[\w+-]+(\/[\w+-]+)*$/.test(name)
    zoneNames.set(name, isName)
  }
  return isName ? name : undefined
}

const zoneNames = new BoundedCache<string, boolean>(2_000)

const MILES_PER_KM = 0.621371

function toCoordinates({ latitude, longitude, radiusKm }: RawPlace): Coordinates | undefined {
  if (latitude === undefined || longitude === undefined) return undefined
  if (Math.abs(latitude) > 90 || Math.abs(longitude) > 180) return undefined
  if (radiusKm === undefined || radiusKm < 0) return { latitude, longitude }
  const accuracyRadius = Math.max(1, Math.round(radiusKm * MILES_PER_KM))
  return { latitude, longitude, accuracyRadius }
}
