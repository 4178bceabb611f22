import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Reader } from 'mmdb-lib'
import { openBytes } from '../../../lib/geo/files/mapped-file.ts'
import type { RecordSize } from '../../../lib/geo/mmdb/file.ts'
import { type Mmdb, openMmdb } from '../../../lib/geo/mmdb/mmdb.ts'
import type { MmdbValue } from '../../../lib/geo/mmdb/value.ts'
import { createMmdbWriter } from '../../../lib/geo/mmdb/writer.ts'
import { type Address, ipv4FromBits } from '../../../lib/parts/net/address.ts'
import { BUILT_AT, mmdbBytes, type Records } from '../../support/geo-files.ts'
import { addressOf } from '../../support/networks.ts'
import { anyCharacter } from '../../support/quick/any-character.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { ipv6 as ipv6Of } from '../sibling.ts'

const folder = tempFolder()

const openRecords = (records: Records) => openMmdb(mmdbBytes(records))

function read(mmdb: Mmdb, address: Address | string): unknown {
  const offset = mmdb.find(typeof address === 'string' ? addressOf(address) : address)
  return offset === 0 ? null : mmdb.decode(offset)
}

const ipv4 = fc
  .oneof(
    fc.integer({ min: 0, max: 0xffff_ffff }),
    fc.nat(0xfff).map((low) => 0x5102_4000 + low),
  )
  .map(ipv4FromBits)
/** In 2a00::/8, where no address embeds an IPv4 address. */
const ipv6 = fc
  .tuple(fc.nat(0xff_ffff), fc.constantFrom(0, 1, 0xffff_ffff), fc.nat(3))
  .map(([high, middle, low]) => ipv6Of([0x2a00_0000 + high, middle, 0, low]))
const key = fc.stringMatching(/^[a-z]{1,6}$/).filter((name) => !['names', 'country'].includes(name))
const value: fc.Arbitrary<MmdbValue> = fc.letrec<{ value: MmdbValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.string({ unit: anyCharacter, maxLength: 400 }).filter((text) => text.isWellFormed()),
    fc.boolean(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value

const entries = (address: fc.Arbitrary<Address>) =>
  fc.array(fc.record({ address, prefix: fc.nat(128), record: fc.record({ v: value }) }), {
    minLength: 1,
    maxLength: 12,
  })

describe('the reader', () => {
  for (const recordSize of [24, 28, 32] as const) {
    for (const ipVersion of [4, 6] as const) {
      it(`answers as mmdb-lib does, IPv${ipVersion}, ${recordSize} bits`, () => {
        const address = ipVersion === 4 ? ipv4 : fc.oneof(ipv4, ipv6)
        fc.assert(
          fc.property(entries(address), fc.array(address), (inserted, asked) => {
            const bytes = written(inserted, ipVersion, recordSize)
            const mmdb = openMmdb(bytes)
            const oracle = new Reader(bytes)
            for (const one of [...inserted.map(({ address }) => address), ...asked]) {
              assert.deepEqual(plain(read(mmdb, one)), plain(oracle.get(one.text)), one.text)
            }
          }),
          { numRuns: 60 },
        )
      })
    }
  }

  it('finds only embedded IPv4 addresses when looking up IPv6 in an IPv4 tree', () => {
    const mmdb = openMmdb(mmdbBytes({ '0.0.0.0/0': { v: 'any' } }, { ipVersion: 4 }))
    for (const text of ['::', '::1', '101:101::', '2a00::1', 'ffff::', '::1.1.1.1']) {
      assert.equal(read(mmdb, text), null, text)
    }
    for (const text of ['::ffff:1.1.1.1', '2002:101:101::', '2001::fefe:fefe', '1.1.1.1']) {
      assert.deepEqual(read(mmdb, text), { v: 'any' }, text)
    }
  })

  it('finds embedded IPv4 in a tree without aliases', () => {
    const mmdb = openRecords({ '1.2.3.0/24': { v: 4 }, '2002:909::/32': { v: 6 } })
    assert.deepEqual(read(mmdb, '1.2.3.4'), { v: 4 })
    assert.deepEqual(read(mmdb, '::ffff:1.2.3.4'), { v: 4 })
    assert.deepEqual(read(mmdb, '2002:102:304::1'), { v: 4 }, '6to4')
    assert.deepEqual(read(mmdb, '2001::fefd:fcfb'), { v: 4 }, 'Teredo')
    const first = 'the record of the IPv6 network comes first'
    assert.deepEqual(read(mmdb, '2002:909:909::1'), { v: 6 }, first)
    assert.equal(read(mmdb, '::1.2.3.4'), null, '::a.b.c.d does not embed IPv4')
    assert.deepEqual(read(mmdb, '64:ff9b::1.2.3.4'), { v: 4 }, 'NAT64')
    assert.equal(read(mmdb, '64:ff9b:1::1.2.3.4'), null)
  })

  it('finds the same records in a mapped file as in one that was read', async () => {
    const row = (_: unknown, n: number) =>
      [`10.${n >> 8}.${n & 255}.0/24`, { v: `net ${n % 7}` }] as const
    const records = Object.fromEntries(Array.from({ length: 500 }, row))
    const path = join(folder, 'both.mmdb')
    writeFileSync(path, mmdbBytes(records))
    const [mapped, whole] = await Promise.all([openBytes(path, true), openBytes(path, false)])
    if (process.platform === 'linux') assert.equal(mapped.loadedBy, 'mapping')
    assert.equal(whole.loadedBy, 'reading')
    assert.ok(mapped.bytes.equals(whole.bytes))
    const [first, second] = [openMmdb(mapped.bytes), openMmdb(whole.bytes)]
    for (let n = 0; n < 600; n++) {
      const address = ipv4FromBits(0x0a00_0000 + n * 256 + 5)
      assert.deepEqual(read(first, address), read(second, address))
    }
  })

  it('refuses an empty file, and does not map it', async () => {
    const path = join(folder, 'empty.mmdb')
    writeFileSync(path, '')
    const { bytes, loadedBy } = await openBytes(path, true)
    assert.equal(loadedBy, 'reading')
    assert.throws(() => openMmdb(bytes), /it is empty/)
  })

  it('returns the metadata', () => {
    const { metadata } = openMmdb(mmdbBytes({ '1.0.0.0/8': { v: 1 } }, { recordSize: 28 }))
    const about = {
      databaseType: 'GeoLite2-City',
      description: 'Made for tests',
      builtAt: BUILT_AT,
    }
    const { nodeCount } = metadata
    assert.deepEqual(metadata, { ...about, ipVersion: 6, recordSize: 28, nodeCount })
  })

  it('limits an absurd build time to the range of a Date', () => {
    const { metadata } = openMmdb(mmdbBytes({ '1.0.0.0/8': { v: 1 } }, { builtAt: 2 ** 63 }))
    assert.doesNotThrow(() => new Date(metadata.builtAt).toISOString())
  })

  for (const recordSize of [28, 32] as const) {
    it(`finds records after the first 16 MB by ${recordSize} bits, left and right`, () => {
      const last = { '2.0.0.0/8': { v: 'left' }, '3.0.0.0/8': { v: 'right' } }
      const records = { '1.0.0.0/8': { v: 'x'.repeat(2 ** 24) }, ...last }
      const mmdb = openMmdb(mmdbBytes(records, { recordSize }))
      assert.deepEqual(read(mmdb, '2.2.2.2'), { v: 'left' })
      assert.deepEqual(read(mmdb, '3.3.3.3'), { v: 'right' })
    })
  }

  it('walks every record once, up to a limit', () => {
    const four = { '1.0.0.0/8': { v: 1 }, '2.0.0.0/8': { v: 2 }, '3.0.0.0/8': { v: 1 } }
    const mmdb = openRecords({ ...four, '2a00::/16': { v: 3 } })
    const records = [...mmdb.offsets(100)].map((offset) => mmdb.decode(offset))
    assert.deepEqual(records, [{ v: 1 }, { v: 2 }, { v: 3 }])
    assert.equal([...mmdb.offsets(2)].length, 2)
  })
})

describe('the decoder', () => {
  it('reads one name from a map of names: English, else the first', () => {
    const one = (record: MmdbValue) => read(openRecords({ '1.0.0.0/8': record }), '1.1.1.1')
    const names = { de: 'Wien', en: 'Vienna', ja: 'ウィーン' }
    assert.deepEqual(one({ city: { names } }), { city: { names: 'Vienna' } })
    assert.deepEqual(one({ city: { names: { de: 'Wien', ja: 'x' } } }), { city: { names: 'Wien' } })
    assert.deepEqual(one({ city: { names: {} } }), { city: { names: '' } })
    assert.deepEqual(one({ city: { names: 'Wien' } }), { city: { names: 'Wien' } })
  })

  it('reads the names in all languages if asked for', () => {
    const names = { de: 'Wien', en: 'Vienna', ja: 'ウィーン' }
    const mmdb = openRecords({ '1.0.0.0/8': { city: { names } } })
    const offset = mmdb.find(ipv4FromBits(0x0101_0101))
    assert.deepEqual(mmdb.decodeNames(offset), { city: { names } })
    assert.deepEqual(mmdb.decode(offset), { city: { names: 'Vienna' } })
  })

  it('returns the same value however often a record is read', () => {
    const a = { names: { en: 'shared' } }
    const mmdb = openRecords({ '1.0.0.0/8': { a, b: 1 }, '2.0.0.0/8': { a, b: 2 } })
    for (let n = 0; n < 5; n++) {
      assert.deepEqual(read(mmdb, '1.1.1.1'), { a: { names: 'shared' }, b: 1 })
      assert.deepEqual(read(mmdb, '2.1.1.1'), { a: { names: 'shared' }, b: 2 })
    }
  })
})

interface Entry {
  readonly address: Address
  readonly prefix: number
  readonly record: MmdbValue
}

function written(inserted: readonly Entry[], ipVersion: 4 | 6, recordSize: RecordSize): Buffer {
  const options = { databaseType: 'Test', description: 'Test', builtAt: BUILT_AT }
  const writer = createMmdbWriter({ ...options, ipVersion, recordSize })
  for (const { address, prefix, record } of inserted) {
    const width = address.version === 4 ? 32 : 128
    // Short IPv6 prefixes would cover addresses that embed IPv4.
    const shortest = address.version === 4 ? 0 : 16
    const length = Math.max(shortest, prefix % (width + 1))
    writer.insert({ address, prefix: length }, record)
  }
  return Buffer.from(writer.toBytes())
}

/** The value without the JavaScript classes of its parts. */
function plain(record: unknown): unknown {
  return record === null ? null : JSON.parse(JSON.stringify(record))
}
