import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Reader } from 'mmdb-lib'
import type { MmdbOptions, RecordSize } from '../../../lib/geo/mmdb/file.ts'
import type { MmdbValue } from '../../../lib/geo/mmdb/value.ts'
import { createMmdbWriter, type MmdbWriter } from '../../../lib/geo/mmdb/writer.ts'
import { type Address, formatIpv6, ipv4FromBits } from '../../../lib/parts/net/address.ts'
import type { Network } from '../../../lib/parts/net/network.ts'
import { addressOf as ip, networkOf as net } from '../../support/networks.ts'

const BUILT_AT = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
const RECORD_SIZES: readonly RecordSize[] = [24, 28, 32]

describe('a written search tree', () => {
  for (const recordSize of RECORD_SIZES) {
    for (const ipVersion of [4, 6] as const) {
      it(`answers as a list of networks would, IPv${ipVersion}, ${recordSize} bits`, () => {
        fc.assert(
          fc.property(insertions(ipVersion), fc.array(address(ipVersion)), (inserted, asked) => {
            const writer = newWriter({ ipVersion, recordSize })
            for (const { first, last, record } of inserted) writer.insertRange(first, last, record)
            const reader = read(writer)
            const ends = inserted.flatMap(({ first, last }) => [first, last])
            for (const one of [...ends.flatMap(withNeighbours), ...asked]) {
              assert.deepEqual(reader.get(one.text), answer(inserted, one), one.text)
            }
          }),
          { numRuns: 100 },
        )
      })
    }
  }

  it('stores a network like the range of its addresses', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(address(6), fc.nat(128)), { minLength: 1 }), (networks) => {
        const byNetwork = newWriter({ ipVersion: 6 })
        const byRange = newWriter({ ipVersion: 6 })
        for (const [at, [base, length]] of networks.entries()) {
          const network = { address: base, prefix: Math.min(length, base.version === 4 ? 32 : 128) }
          byNetwork.insert(network, at)
          byRange.insertRange(...ends(network), at)
        }
        assert.deepEqual(byNetwork.toBytes(), byRange.toBytes())
      }),
    )
  })

  it('covers a range with the fewest networks', () => {
    fc.assert(
      fc.property(fc.nat(300), fc.nat(300), fc.boolean(), (start, length, high) => {
        const base = high ? 0xffffffff - 600 + start : 0x0a000000 + start
        const whole = newWriter({ ipVersion: 4 })
        const single = newWriter({ ipVersion: 4 })
        whole.insertRange(ipv4FromBits(base), ipv4FromBits(base + length), 'x')
        for (let at = 0; at <= length; at++) {
          const one = ipv4FromBits(base + ((at * 7) % (length + 1)))
          single.insert({ address: one, prefix: 32 }, 'x')
          single.insert({ address: ipv4FromBits(base + at), prefix: 32 }, 'x')
        }
        assert.deepEqual(whole.toBytes(), single.toBytes())
      }),
    )
  })

  it('merges the halves of a network if their records are equal', () => {
    fc.assert(
      fc.property(fc.constantFrom(4, 6), fc.integer({ min: 1, max: 30 }), (ipVersion, prefix) => {
        const whole = newWriter({ ipVersion }, { [`0.0.0.0/${prefix - 1}`]: { a: 1 } })
        const half = 2 ** (32 - prefix)
        const halves = newWriter({ ipVersion }, { [`0.0.0.0/${prefix + 1}`]: { a: 1 } })
        halves.insert({ address: ipv4FromBits(half), prefix }, { a: 1 })
        halves.insert({ address: ipv4FromBits(half / 2), prefix: prefix + 1 }, { a: 1 })
        assert.deepEqual(halves.toBytes(), whole.toBytes())
      }),
    )
  })

  it('holds many networks', () => {
    const writer = newWriter({ ipVersion: 6 })
    const scattered = (at: number) => ipv4FromBits((at * 0x9e3779b1) >>> 0)
    for (let at = 0; at < 5000; at++) writer.insert({ address: scattered(at), prefix: 32 }, at)
    const reader = read(writer)
    for (let at = 0; at < 5000; at++) assert.equal(reader.get(scattered(at).text), at)
  })

  it('covers everything with two records at the root', () => {
    const ranges = [
      [4, '0.0.0.0', '255.255.255.255'],
      [6, '::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ] as const
    for (const [ipVersion, first, last] of ranges) {
      const writer = newWriter({ ipVersion })
      writer.insertRange(ip('1.2.3.4'), ip('1.2.3.5'), 'hidden')
      writer.insertRange(ip(first), ip(last), 'all')
      const reader = read(writer)
      assert.equal(reader.metadata.nodeCount, 1)
      for (const text of ['0.0.0.0', '1.2.3.4', '255.255.255.255', first, last]) {
        assert.equal(reader.get(text), 'all')
      }
    }
  })

  it('puts IPv4 networks at ::/96 of an IPv6 tree, without aliases', () => {
    const records = { '0.0.0.0/0': 'four', '2001:db8::/32': 'six' }
    const reader = read(newWriter({ ipVersion: 6 }, records))
    assert.equal(reader.get('0.0.0.0'), 'four')
    assert.equal(reader.get('::255.255.255.255'), 'four')
    assert.equal(reader.get('2001:db8:ffff::1'), 'six')
    assert.equal(reader.get('::ffff:1.2.3.4'), null)
    assert.equal(reader.get('2002:102:304::'), null)
    assert.equal(reader.get('::1:0:0'), null)
  })

  it('leaves out overridden records, and can be written more than once', () => {
    const writer = newWriter({ ipVersion: 4 }, { '10.1.0.0/16': 'hidden', '10.0.0.0/8': 'seen' })
    const seen = newWriter({ ipVersion: 4 }, { '10.0.0.0/8': 'seen' })
    assert.deepEqual(writer.toBytes(), seen.toBytes())
    writer.insert(net('10.2.0.0/16'), 'new')
    assert.equal(read(writer).get('10.2.3.4'), 'new')
  })

  it('writes a record once for all networks that have it', () => {
    const once = newWriter({ ipVersion: 4 }, { '10.0.0.0/32': { name: 'shared' } }).toBytes()
    const shared = { name: 'shared' }
    const writer = newWriter({ ipVersion: 4 })
    for (let at = 0; at < 100; at += 2) {
      writer.insert(net(`10.0.0.${at}/32`), at % 4 === 0 ? shared : { name: 'shared' })
    }
    const bytes = writer.toBytes()
    const treeBytes = (file: Uint8Array) => new Reader(Buffer.from(file)).metadata.searchTreeSize
    assert.equal(bytes.length - treeBytes(bytes), once.length - treeBytes(once))
  })
})

describe('a written file', () => {
  it('describes itself in its metadata', () => {
    const writer = newWriter({ ipVersion: 6, languages: ['en', 'pt-BR'] }, { '1.0.0.0/8': 1 })
    assert.deepEqual(read(writer).metadata, {
      binaryFormatMajorVersion: 2,
      binaryFormatMinorVersion: 0,
      buildEpoch: new Date(Date.UTC(2026, 0, 2, 3, 4, 5)),
      databaseType: 'Test',
      description: { en: 'Test' },
      ipVersion: 6,
      languages: ['en', 'pt-BR'],
      nodeByteSize: 6,
      nodeCount: 104,
      recordSize: 24,
      searchTreeSize: 624,
      treeDepth: 128,
    })
  })

  it('uses 28 bits per record once 24 are too few, and fails if it must use 24', () => {
    // Before the last record: three nodes, the separator, the head of the string, 'l'.
    const room = 2 ** 24 - 3 - 16 - 4 - 2
    const last = { '128.0.0.0/2': 'l', '192.0.0.0/2': 'r' }
    const records = (length: number) => ({ '0.0.0.0/2': 'x'.repeat(length), ...last })
    const small = read(newWriter({ ipVersion: 4 }, records(room - 1)))
    const large = read(newWriter({ ipVersion: 4 }, records(room + 9)))
    for (const reader of [small, large]) {
      assert.deepEqual([reader.get('129.0.0.0'), reader.get('193.0.0.0')], ['l', 'r'])
    }
    assert.deepEqual([small.metadata.recordSize, large.metadata.recordSize], [24, 28])
    const forced = newWriter({ ipVersion: 4, recordSize: 24 }, records(room))
    const message = 'Cannot write the search tree: 16777216 needs more than 24 bits'
    assert.throws(() => forced.toBytes(), new RangeError(message))
  })
})

describe('the writer', () => {
  const writer = newWriter({ ipVersion: 4 })

  it('refuses an IPv6 network in an IPv4 tree', () => {
    const message = 'Cannot insert "2001:db8::": the database is for IPv4 only'
    assert.throws(() => writer.insert(net('2001:db8::/32'), 1), new RangeError(message))
    const [first, last] = [ip('2001:db8::'), ip('2001:db8::1')]
    assert.throws(() => writer.insertRange(first, last, 1), new RangeError(message))
  })

  it('refuses a range that ends before it starts or in the other IP version', () => {
    const six = newWriter({ ipVersion: 6 })
    const backwards = /^RangeError: Cannot insert .*: the last address lies before the first$/
    assert.throws(() => six.insertRange(ip('1.2.3.4'), ip('1.2.3.3'), 1), backwards)
    assert.throws(() => six.insertRange(ip('2::'), ip('1::ffff'), 1), backwards)
    assert.throws(() => six.insertRange(ip('255.0.0.0'), ip('0.0.0.1'), 1), backwards)
    const mixed = /^RangeError: Cannot insert "1.2.3.4" to "2::": the IP versions differ$/
    assert.throws(() => six.insertRange(ip('1.2.3.4'), ip('2::'), 1), mixed)
    assert.throws(() => writer.insertRange(ip('1.2.3.4'), ip('2::'), 1), mixed)
  })

  it('refuses a prefix longer than the address', () => {
    const address = ip('10.0.0.0')
    for (const prefix of [33, -1, 1.5, Number.NaN]) {
      assert.throws(() => writer.insert({ address, prefix }, 1), /not a prefix of 32/)
    }
  })

  it('refuses a value that the format has no type for', () => {
    const network = net('10.0.0.0/8')
    assert.throws(() => writer.insert(network, { deep: [Number.NaN] }), RangeError)
    assert.throws(() => writer.insert(network, JSON.parse('{"a":null}')), /Cannot store null/)
    assert.equal(read(writer).get('10.0.0.0'), null)
  })
})

type Options = Pick<MmdbOptions, 'ipVersion'> & Partial<MmdbOptions>

function newWriter(options: Options, records: Record<string, MmdbValue> = {}): MmdbWriter {
  const defaults = { databaseType: 'Test', description: 'Test', builtAt: BUILT_AT }
  const writer = createMmdbWriter({ ...defaults, ...options })
  for (const [network, record] of Object.entries(records)) writer.insert(net(network), record)
  return writer
}

function read(writer: MmdbWriter): Reader<never> {
  return new Reader(Buffer.from(writer.toBytes()))
}

interface Insertion {
  readonly first: Address
  readonly last: Address
  readonly record: MmdbValue
}

/** Ranges that often nest, touch and overlap: half of them end close to where they begin. */
function insertions(ipVersion: 4 | 6): fc.Arbitrary<Insertion[]> {
  const end = address(ipVersion)
  const record = fc.oneof(fc.nat(3), fc.constantFrom({ a: 'one' }, { a: 'two', b: [1] }))
  const range = fc.tuple(end, end, record).map(([a, b, record]) => {
    const last = a.version === b.version ? b : a
    return place(a) <= place(last) ? { first: a, last, record } : { first: last, last: a, record }
  })
  return fc.array(range, { minLength: 1, maxLength: 12 })
}

/** Few different high and low bits, so that addresses are often neighbours. */
function address(ipVersion: 4 | 6): fc.Arbitrary<Address> {
  const edges = [0, 1, 2, 3, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff]
  const word = fc.oneof(fc.constantFrom(...edges), fc.nat(0xffffffff))
  const four = word.map(ipv4FromBits)
  const six = fc.tuple(word, word, word, word).map((words) => ip(formatIpv6(words)))
  return ipVersion === 4 ? four : fc.oneof(four, six)
}

/** The last insertion that contains the address wins. */
function answer(inserted: readonly Insertion[], address: Address): MmdbValue | null {
  const at = place(address)
  const found = inserted.findLast(({ first, last }) => place(first) <= at && at <= place(last))
  return found?.record ?? null
}

/** The address as a number of 128 bits. */
function place(address: Address): bigint {
  const words: readonly number[] = address.version === 4 ? [address.bits >>> 0] : address.words
  return words.reduce((bits, word) => (bits << 32n) | BigInt(word), 0n)
}

/** The address, the one before it and the one after it. */
function withNeighbours(address: Address): Address[] {
  const width = address.version === 4 ? 32 : 128
  const at = place(address)
  const inside = [at - 1n, at, at + 1n].filter((bits) => bits >= 0n && bits < 1n << BigInt(width))
  return inside.map((bits) => fromPlace(bits, width))
}

function ends({ address, prefix }: Network): [Address, Address] {
  const width = address.version === 4 ? 32 : 128
  const host = (1n << BigInt(width - prefix)) - 1n
  const first = place(address) & ~host
  return [fromPlace(first, width), fromPlace(first | host, width)]
}

function fromPlace(bits: bigint, width: number): Address {
  if (width === 32) return ipv4FromBits(Number(bits))
  const hex = bits.toString(16).padStart(32, '0')
  return ip(hex.replace(/.{4}(?=.)/g, '$&:'))
}
