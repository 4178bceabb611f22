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
const northAmerica = { code: 'NA', names: { en: 'North America' } }

const london = {
  city: { geoname_id: 2643743, names: { de: 'London', en: 'London', ja: 'ロンドン' } },
  continent: europe,
  country: britain,
  location: {
    accuracy_radius: 10,
    latitude: 51.5142,
    longitude: -0.0931,
    metro_code: 819,
    time_zone: 'Europe/London',
  },
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
    location: {
      accuracy_radius: 1000,
      latitude: 37.751,
      longitude: -97.822,
      time_zone: 'America/Los_Angeles',
    },
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
const DBIP_RECORDS = {
  '5.0.0.0/24': {
    ...FLAT,
    country_code: 'DE',
    state1: 'Land Berlin',
    city: 'Berlin',
    latitude: 52.520_008,
    longitude: 13.404_954,
    timezone: '',
  },
  '18.0.0.0/24': {
    ...FLAT,
    country_code: 'SE',
    state1: 'Nirgendwo',
    city: 'Stockholm',
    latitude: 59.33,
    longitude: 18.07,
    timezone: 'Europe/Stockholm',
  },
  '81.2.69.0/24': {
    ...FLAT,
    country_code: 'GB',
    state1: 'England',
    city: 'London',
    latitude: 51.5,
    longitude: -0.12,
    timezone: 'Europe/London',
  },
} as const satisfies Records

const ASN_RECORDS = {
  '8.8.8.0/24': {
    autonomous_system_number: 15169,
    autonomous_system_organization: 'Google LLC',
  },
  '12.0.0.0/24': { autonomous_system_number: 7018, autonomous_system_organization: 'AT&T' },
  '81.2.69.0/24': {
    autonomous_system_number: 20712,
    autonomous_system_organization: 'Andrews & Arnold Ltd',
  },
} as const satisfies Records

const IPINFO_RECORDS = {
  '19.0.0.0/24': {
    as_domain: 'ford.com',
    as_name: 'Ford Motor Company',
    asn: 'AS29914',
    continent: 'North America',
    continent_code: 'NA',
    country: 'Canada',
    country_code: 'CA',
  },
  '81.2.69.0/24': {
    as_domain: 'aa.net.uk',
    as_name: 'Andrews & Arnold',
    asn: 'AS20712',
    continent: 'Europe',
    continent_code: 'EU',
    country: 'United Kingdom',
    country_code: 'GB',
  },
} as const satisfies Records

const REGIONS = {
  'DE-BE': 'State of Berlin',
  'GB-ENG': 'England',
  'US-CA': 'California',
} as const

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
