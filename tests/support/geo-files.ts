import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MmdbOptions } from '../../lib/geo/mmdb/file.ts'
import { Double, type MmdbValue } from '../../lib/geo/mmdb/value.ts'
import { createMmdbWriter } from '../../lib/geo/mmdb/writer.ts'
import { parseNetwork } from '../../lib/parts/net/network.ts'
import { processFolder } from './temp-folder.ts'

/** Records by network, larger networks first. */
export type Records = Readonly<Record<string, MmdbValue>>

export const BUILT_AT = Date.UTC(2026, 0, 13)

/** The bytes of a database with these records. */
export function mmdbBytes(records: Records, options: Partial<MmdbOptions> = {}): Buffer {
  const writer = createMmdbWriter({
    databaseType: 'GeoLite2-City',
    description: 'Made for tests',
    builtAt: BUILT_AT,
    ipVersion: 6,
    ...options,
  })
  for (const [text, record] of Object.entries(records)) {
    const network = parseNetwork(text)
    if (network === null) throw new Error(`"${text}" is no network`)
    writer.insert(network, record)
  }
  return Buffer.from(writer.toBytes())
}

const germany = { iso_code: 'DE', names: { de: 'Deutschland', en: 'Germany' } }
const britain = {
  geoname_id: 2635167,
  iso_code: 'GB',
  is_in_european_union: true,
  names: { de: 'Vereinigtes Königreich', en: 'United Kingdom' },
}
const europe = { code: 'EU', geoname_id: 6255148, names: { en: 'Europe' } }
const usa = { iso_code: 'US', names: { en: 'United States' } }
const kansas = { latitude: 37.751, longitude: -97.822 }
const northAmerica = { code: 'NA', names: { en: 'North America' } }
const city = { latitude: 51.5142, longitude: -0.0931 }

const london = {
  city: { geoname_id: 2643743, names: { de: 'London', en: 'London', ja: 'ロンドン' } },
  continent: europe,
  country: britain,
  location: { ...city, accuracy_radius: 10, metro_code: 819, time_zone: 'Europe/London' },
  postal: { code: 'EC2V' },
  registered_country: { iso_code: 'US', names: { en: 'United States' } },
  subdivisions: [
    { geoname_id: 6269131, iso_code: 'ENG', names: { en: 'England' } },
    { iso_code: 'LND', names: { en: 'City of London' } },
  ],
}

/** One address for each field that a City record may have or lack. */
export const CITY_RECORDS = {
  '81.2.69.0/24': london,
  '2a00:1450:4009::/48': london,
  // Only a country
  '5.0.0.0/24': { continent: europe, country: germany },
  // Only a continent
  '6.0.0.0/24': { continent: { code: 'AS', names: { en: 'Asia' } } },
  // Only the registered country, with a location that is not the user's
  '7.0.0.0/24': {
    registered_country: { iso_code: 'FR', names: { en: 'France' } },
    location: { latitude: 48.5, longitude: 2.5, time_zone: 'Europe/Paris' },
  },
  // A region without a city
  '8.8.8.0/24': {
    continent: northAmerica,
    country: usa,
    location: { ...kansas, accuracy_radius: 1000, time_zone: 'America/Los_Angeles' },
    subdivisions: [{ iso_code: 'CA', names: { en: 'California' } }],
  },
  // No English names
  '9.0.0.0/24': {
    continent: { code: 'EU', names: { de: 'Europa' } },
    country: { iso_code: 'AT', names: { de: 'Österreich' } },
    city: { names: { de: 'Wien' } },
  },
  // Coordinates of zero, the smallest radius
  '11.0.0.0/24': {
    continent: { code: 'AF', names: { en: 'Africa' } },
    country: { iso_code: 'GH', names: { en: 'Ghana' } },
    city: { names: { en: 'Zero' } },
    location: { accuracy_radius: 1, latitude: new Double(0), longitude: new Double(0) },
  },
  // No location
  '12.0.0.0/24': { traits: { is_anycast: true } },
  '13.0.0.0/24': {},
  // Numbers that JSON cannot express
  '14.0.0.0/24': {
    continent: { code: 'AS', geoname_id: 2n ** 40n, names: { en: 'Asia' } },
    country: { iso_code: 'JP', names: { en: 'Japan' }, serial: 2n ** 100n },
    city: { names: { en: 'Tokyo' } },
    location: { latitude: 35.69, longitude: 139.69 },
  },
  // Regions without codes: one with a known name and one with an unknown name
  '15.0.0.0/25': { country: britain, subdivisions: [{ names: { en: 'England' } }] },
  '15.0.0.128/25': { country: britain, subdivisions: [{ names: { en: 'Atlantis' } }] },
  '16.0.0.0/24': {
    country: { iso_code: 'BR', names: { en: 'Brazil' } },
    city: { names: { en: 'São "Paulo" 🌆' } },
    location: { latitude: -23.55, longitude: -46.64, time_zone: 'America/Sao_Paulo' },
  },
  // Only a country, which has several timezones
  '17.0.0.0/24': { continent: northAmerica, country: usa },
} as const satisfies Records

const FLAT = { postcode: '', state2: '' }
const BERLIN = { country_code: 'DE', state1: 'Land Berlin', city: 'Berlin', timezone: '' }
const NOWHERE = { country_code: 'SE', state1: 'Nirgendwo', city: 'Stockholm' }
const LONDON = { country_code: 'GB', state1: 'England', city: 'London', timezone: 'Europe/London' }
const DBIP_RECORDS = {
  '5.0.0.0/24': { ...FLAT, ...BERLIN, latitude: 52.520_008, longitude: 13.404_954 },
  '18.0.0.0/24': {
    ...{ ...FLAT, ...NOWHERE, timezone: 'Europe/Stockholm' },
    ...{ latitude: 59.33, longitude: 18.07 },
  },
  '81.2.69.0/24': { ...FLAT, ...LONDON, latitude: 51.5, longitude: -0.12 },
} as const satisfies Records

const asOf = (autonomous_system_number: number, autonomous_system_organization: string) => {
  return { autonomous_system_number, autonomous_system_organization }
}
const ASN_RECORDS = {
  '8.8.8.0/24': asOf(15169, 'Google LLC'),
  '12.0.0.0/24': asOf(7018, 'AT&T'),
  '81.2.69.0/24': asOf(20712, 'Andrews & Arnold Ltd'),
} as const satisfies Records

const CANADA = { continent: 'North America', continent_code: 'NA', country: 'Canada' }
const BRITAIN = { continent: 'Europe', continent_code: 'EU', country: 'United Kingdom' }
const FORD = { as_domain: 'ford.com', as_name: 'Ford Motor Company', asn: 'AS29914' }
const ARNOLD = { as_domain: 'aa.net.uk', as_name: 'Andrews & Arnold', asn: 'AS20712' }
const IPINFO_RECORDS = {
  '19.0.0.0/24': { ...FORD, ...CANADA, country_code: 'CA' },
  '81.2.69.0/24': { ...ARNOLD, ...BRITAIN, country_code: 'GB' },
} as const satisfies Records

const REGIONS = { 'DE-BE': 'State of Berlin', 'GB-ENG': 'England', 'US-CA': 'California' } as const

export interface GeoFiles {
  readonly city: string
  /** The same records, IPv4 only. */
  readonly cityIpv4: string
  readonly dbip: string
  readonly asn: string
  readonly ipinfo: string
}

let written: GeoFiles | undefined

/** The fixture files, written once per process and removed when it ends. */
export function geoFiles(): GeoFiles {
  if (written !== undefined) return written
  const folder = processFolder()
  const write = (name: string, bytes: Buffer) => {
    const path = join(folder, name)
    writeFileSync(path, bytes)
    return path
  }
  const { '2a00:1450:4009::/48': _, ...ipv4Records } = CITY_RECORDS
  written = {
    city: write('City.mmdb', mmdbBytes(CITY_RECORDS)),
    cityIpv4: write('City4.mmdb', mmdbBytes(ipv4Records, { ipVersion: 4 })),
    dbip: write('dbip-city.mmdb', mmdbBytes(DBIP_RECORDS, { databaseType: 'flat', ipVersion: 4 })),
    asn: write('ASN.mmdb', mmdbBytes(ASN_RECORDS, { databaseType: 'GeoLite2-ASN' })),
    ipinfo: write('lite.mmdb', mmdbBytes(IPINFO_RECORDS, { databaseType: 'ipinfo lite' })),
  }
  return written
}

/** Fills the geo folder of a data folder, so that the server has nothing to prepare. */
export function makeGeoFolder(dataDir: string): string {
  const directory = join(dataDir, 'geo')
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'regions.json'), JSON.stringify(REGIONS))
  return directory
}
