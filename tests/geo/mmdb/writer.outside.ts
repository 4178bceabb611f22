import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { RecordSize } from '../../../lib/geo/mmdb/file.ts'
import { Double, type MmdbValue, Uint16 } from '../../../lib/geo/mmdb/value.ts'
import { createMmdbWriter } from '../../../lib/geo/mmdb/writer.ts'
import { addressOf } from '../../support/networks.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const RICH = {
  country: { iso_code: 'DE', names: { de: 'Deutschland', 'pt-BR': 'Alemanha' } },
  location: { latitude: 52.5, longitude: new Double(13), accuracy_radius: new Uint16(200) },
  subdivisions: [{ iso_code: 'BE' }, { iso_code: 'BE' }],
  traits: { is_anycast: true, asn: 4294967295, shift: -2147483648, big: 18446744073709551615n },
  empty: {},
}
const RICH_PRINTED =
  '{"country":{"iso_code":"DE"<utf8_string>"names":{"de":"Deutschland"<utf8_string>' +
  '"pt-BR":"Alemanha"<utf8_string>}}"location":{"latitude":52.500000<double>' +
  '"longitude":13.000000<double>"accuracy_radius":200<uint16>}' +
  '"subdivisions":[{"iso_code":"BE"<utf8_string>}{"iso_code":"BE"<utf8_string>}]' +
  '"traits":{"is_anycast":true<boolean>"asn":4294967295<uint32>"shift":-2147483648<int32>' +
  '"big":18446744073709551615<uint64>}"empty":{}}'

const RANGES: readonly [first: string, last: string, record: MmdbValue][] = [
  ['10.0.0.0', '10.255.255.255', 'ten'],
  ['10.1.2.3', '10.1.9.8', RICH],
  ['223.255.255.255', '223.255.255.255', { single: true }],
  ['2001:db8::1', '2001:db8:ffff:ffff:ffff:ffff:ffff:fffe', 'six'],
]
const ANSWERS: readonly [address: string, printed: string | null][] = [
  ['10.0.0.0', '"ten"<utf8_string>'],
  ['10.1.2.2', '"ten"<utf8_string>'],
  ['10.1.2.3', RICH_PRINTED],
  ['10.1.9.8', RICH_PRINTED],
  ['10.1.9.9', '"ten"<utf8_string>'],
  ['11.0.0.0', null],
  ['223.255.255.254', null],
  ['223.255.255.255', '{"single":true<boolean>}'],
]
const IPV6_ANSWERS: readonly [address: string, printed: string | null][] = [
  ['2001:db8::', null],
  ['2001:db8::1', '"six"<utf8_string>'],
  ['2001:db8:ffff:ffff:ffff:ffff:ffff:fffe', '"six"<utf8_string>'],
  ['2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', null],
  ['::10.1.2.3', RICH_PRINTED],
]

describe('mmdblookup', () => {
  const folder = tempFolder()

  for (const recordSize of [24, 28, 32] as const) {
    it(`reads an IPv6 tree of ${recordSize} bits`, () => {
      const file = writeDatabase(folder, 6, recordSize)
      for (const [address, printed] of [...ANSWERS, ...IPV6_ANSWERS]) {
        assert.equal(lookUp(file, address), printed, address)
      }
    })

    it(`reads an IPv4 tree of ${recordSize} bits`, () => {
      const file = writeDatabase(folder, 4, recordSize)
      for (const [address, printed] of ANSWERS)
        assert.equal(lookUp(file, address), printed, address)
    })
  }

  it('prints the metadata', () => {
    const { stdout } = run(writeDatabase(folder, 6, 28), '10.0.0.0', '--verbose')
    const lines = [
      /Record size: +28 bits/,
      /IP version: +IPv6/,
      /Binary format: +2\.0/,
      /Build epoch: +1767323045 /,
      /Type: +Meridian-Test/,
      /Languages: +en\n/,
      /en: +Written for a test/,
    ]
    for (const line of lines) assert.match(stdout, line)
  })

  it('finds nothing in an empty tree', () => {
    for (const ipVersion of [4, 6] as const) {
      const file = join(folder, `empty-${ipVersion}.mmdb`)
      writeFileSync(file, newWriter(ipVersion, 24).toBytes())
      assert.equal(lookUp(file, '1.2.3.4'), null)
    }
  })
})

function newWriter(ipVersion: 4 | 6, recordSize: RecordSize) {
  return createMmdbWriter({
    databaseType: 'Meridian-Test',
    description: 'Written for a test',
    builtAt: Date.UTC(2026, 0, 2, 3, 4, 5),
    ipVersion,
    recordSize,
  })
}

function writeDatabase(folder: string, ipVersion: 4 | 6, recordSize: RecordSize): string {
  const writer = newWriter(ipVersion, recordSize)
  for (const [first, last, record] of RANGES) {
    const [start, end] = [addressOf(first), addressOf(last)]
    if (start.version <= ipVersion) writer.insertRange(start, end, record)
  }
  const file = join(folder, `ipv${ipVersion}-${recordSize}.mmdb`)
  writeFileSync(file, writer.toBytes())
  return file
}

/** The tool's output without white space, or null if it finds nothing. */
function lookUp(file: string, address: string): string | null {
  const { status, stdout, stderr } = run(file, address)
  if (status === 0) return stdout.replaceAll(/\s/g, '')
  assert.match(stderr, /Could not find an entry for this IP address/)
  return null
}

function run(file: string, address: string, ...more: string[]) {
  const args = ['--file', file, '--ip', address, ...more]
  return spawnSync('mmdblookup', args, { encoding: 'utf8' })
}
