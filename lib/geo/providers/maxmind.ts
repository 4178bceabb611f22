import type { DecodedMap } from '../mmdb/decoder.ts'
import { mapAt, mapsAt, numberAt, textAt } from '../mmdb/fields.ts'
import type { Named, NetworkOwner, Place } from '../place/finding.ts'
import { namesIn, type PlaceNames } from '../place/names.ts'
import { toNetworkOwner } from '../place/network-owner.ts'
import type { OtherCountries } from '../place/other-countries.ts'
import { type RawNamed, toCountry, toPlace } from '../place/place.ts'
import type { RegionCode, Schema } from './schema.ts'

const PLACE_KEYS = ['country', 'registered_country', 'continent', 'city', 'location']
const NETWORK_KEYS = ['autonomous_system_number', 'autonomous_system_organization', 'isp', 'domain']

/** The provider of a file, by the start of its database type. */
const PROVIDERS = [
  ['GeoLite2-', 'maxmind'],
  ['GeoIP2-', 'maxmind'],
  ['DBIP-', 'dbip'],
  ['ip-location-db-', 'ip-location-db'],
  ['Meridian-Overlay', 'overlay'],
] as const

/**
 * MaxMind's City, Country, ASN, ISP, Domain and Enterprise files, both GeoLite2 and GeoIP2, and
 * files of other providers with the same layout, such as DB-IP's:
 * https://dev.maxmind.com/geoip/docs/databases/
 */
export const maxmind: Schema = {
  name: 'maxmind',
  fits: (sample) =>
    PLACE_KEYS.some((key) => typeof sample[key] === 'object') ||
    NETWORK_KEYS.some((key) => key in sample),
  provider: ({ databaseType }) =>
    PROVIDERS.find(([prefix]) => databaseType.startsWith(prefix))?.[1],
  read: (record, regionCode) => ({
    place: readPlace(record, regionCode),
    network: networkOf(record),
  }),
  asn: (record) => asnOf(traitsOf(record)),
  others: otherCountries,
  names: placeNames,
}

/**
 * The Country files, whose records never name a region or a city: that one names neither does not mean that
 * it knows only where the network is registered.
 */
export const maxmindCountry: Schema = {
  ...maxmind,
  name: 'maxmind-country',
  fits: (sample, metadata) =>
    /country/i.test(metadata.databaseType) && maxmind.fits(sample, metadata),
  read: (record, regionCode) =>
    maxmind.read('country' in record ? { ...record, registered_country: {} } : record, regionCode),
}

function placeNames(record: DecodedMap): PlaceNames {
  const [region = {}] = mapsAt(record, 'subdivisions')
  const country = 'country' in record ? 'country' : 'registered_country'
  return {
    continent: namesIn(mapAt(record, 'continent')),
    country: namesIn(mapAt(record, country)),
    region: namesIn(region),
    city: namesIn(mapAt(record, 'city')),
    registeredCountry: namesIn(mapAt(record, 'registered_country')),
    representedCountry: namesIn(mapAt(record, 'represented_country')),
  }
}

function otherCountries(record: DecodedMap): OtherCountries {
  const map = mapAt(record, 'represented_country')
  const represented = toCountry(named(map, 'iso_code'))
  return {
    registered: toCountry(named(mapAt(record, 'registered_country'), 'iso_code')),
    represented: represented && { ...represented, type: textAt(map, 'type') },
  }
}

function readPlace(record: DecodedMap, regionCode: RegionCode): Place | undefined {
  const country = named(mapAt(record, 'country'), 'iso_code')
  const [first, second] = mapsAt(record, 'subdivisions')
  const location = mapAt(record, 'location')
  return toPlace({
    continent: named(mapAt(record, 'continent'), 'code'),
    country,
    registeredCountry: named(mapAt(record, 'registered_country'), 'iso_code'),
    region: first && country.code ? regionOf(first, country.code, regionCode) : undefined,
    district: second && textAt(second, 'names'),
    city: textAt(mapAt(record, 'city'), 'names'),
    postalCode: textAt(mapAt(record, 'postal'), 'code'),
    latitude: numberAt(location, 'latitude'),
    longitude: numberAt(location, 'longitude'),
    radiusKm: numberAt(location, 'accuracy_radius'),
    timezone: textAt(location, 'time_zone'),
  })
}

function named(map: DecodedMap, codeKey: string): RawNamed {
  return { code: textAt(map, codeKey), name: textAt(map, 'names') }
}

/** `iso_code` is only the part after the country: ENG of GB-ENG. */
function regionOf(map: DecodedMap, country: string, regionCode: RegionCode): Named | undefined {
  const name = textAt(map, 'names')
  const part = textAt(map, 'iso_code')
  if (name === undefined) return undefined
  const code = part === undefined ? regionCode(country, name) : `${country}-${part}`
  return code === undefined ? undefined : { code, name }
}

function networkOf(record: DecodedMap): NetworkOwner | undefined {
  const traits = traitsOf(record)
  return toNetworkOwner({
    asn: asnOf(traits),
    organization:
      textAt(traits, 'autonomous_system_organization') ??
      textAt(traits, 'organization') ??
      textAt(traits, 'isp'),
    domain: textAt(traits, 'domain'),
  })
}

/** ASN, ISP and Domain files have the fields at the top; City and Enterprise files under `traits`. */
function traitsOf(record: DecodedMap): DecodedMap {
  return 'traits' in record ? mapAt(record, 'traits') : record
}

function asnOf(traits: DecodedMap): number | undefined {
  return numberAt(traits, 'autonomous_system_number')
}
