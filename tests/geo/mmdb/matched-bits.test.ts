import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Reader } from 'mmdb-lib'
import { openMmdb } from '../../../lib/geo/mmdb/mmdb.ts'
import { createMmdbWriter } from '../../../lib/geo/mmdb/writer.ts'
import { type Address, ipv4FromBits } from '../../../lib/parts/net/address.ts'
import { BUILT_AT, mmdbBytes } from '../../support/geo-files.ts'
import { addressOf } from '../../support/networks.ts'
import { ipv6, sibling } from '../sibling.ts'

const word = fc.integer({ min: 0, max: 0xffff_ffff })
const ipv4 = word.map(ipv4FromBits)
const ipv6From = (high: fc.Arbitrary<number>) => fc.tuple(high, word, word, word).map(ipv6)
/** In 2a00::/8, where no address embeds an IPv4 address. */
const plainIpv6 = ipv6From(fc.nat(0xff_ffff).map((low) => 0x2a00_0000 + low))
/** In and next to the ranges that embed IPv4 addresses. */
const embedding = fc.oneof(
  ipv6From(fc.constantFrom(0x2001_0000, 0x2001_0001, 0x2002_5102, 0x2003_0000)),
  fc.tuple(fc.constantFrom(0, 1, 0xfffe, 0xffff), word).map(([c, d]) => ipv6([0, 0, c, d])),
)
/** The bits that set 2a00::/8 apart from those ranges. */
const RANGES_APART = 5
const anyAddress = fc.oneof(ipv4, plainIpv6, embedding)

type Networks = readonly { readonly address: Address; readonly prefix: number }[]
const networks = (address: fc.Arbitrary<Address>) =>
  fc.array(fc.record({ address, prefix: fc.nat(128) }), { minLength: 1, maxLength: 12 })

function fileOf(inserted: Networks, ipVersion: 4 | 6): Buffer {
  const about = { databaseType: 'Test', description: 'Test', builtAt: BUILT_AT }
  const writer = createMmdbWriter({ ...about, ipVersion })
  const lengthOf = ({ address, prefix }: Networks[number]) =>
    address.version === 4 ? prefix % 33 : prefix
  const ordered = inserted.toSorted((a, b) => lengthOf(a) - lengthOf(b))
  for (const [n, one] of ordered.entries()) {
    writer.insert({ address: one.address, prefix: lengthOf(one) }, { n })
  }
  return Buffer.from(writer.toBytes())
}

const noise = fc.array(word, { minLength: 4, maxLength: 4 })

describe('matchedBits', () => {
  for (const ipVersion of [4, 6] as const) {
    it(`is the length of the prefix that mmdb-lib reports, IPv${ipVersion}`, () => {
      const address = ipVersion === 4 ? ipv4 : fc.oneof(ipv4, plainIpv6)
      const property = fc.property(networks(address), fc.array(address), (inserted, asked) => {
        const bytes = fileOf(withoutBroad(inserted), ipVersion)
        const mmdb = openMmdb(bytes)
        const oracle = new Reader(bytes)
        for (const one of [...inserted.map(({ address }) => address), ...asked]) {
          const [, length] = oracle.getWithPrefixLength(one.text)
          const shortest = one.version === 4 ? 0 : RANGES_APART
          assert.equal(mmdb.matchedBits(one), Math.max(length, shortest), one.text)
        }
      })
      fc.assert(property, { numRuns: 200 })
    })

    it(`covers only addresses with the same record, in all forms, IPv${ipVersion}`, () => {
      const inserted = networks(ipVersion === 4 ? ipv4 : anyAddress)
      const pairs = fc.array(fc.tuple(anyAddress, noise), { minLength: 20 })
      const property = fc.property(inserted, pairs, (records, asked) => {
        const mmdb = openMmdb(fileOf(records, ipVersion))
        for (const [address, bits] of asked) {
          const other = sibling(address, mmdb.matchedBits(address), bits)
          assert.equal(mmdb.find(other), mmdb.find(address), `${address.text} ${other.text}`)
        }
      })
      fc.assert(property, { numRuns: 300 })
    })
  }

  const lengths = [
    ['1.2.3.4', 24],
    ['1.2.2.4', 24],
    ['200.0.0.1', 1],
    ['::ffff:1.2.3.4', 96 + 24],
    ['2001::fefd:fcfb', 96 + 24],
    ['2002:102:304::1', 16 + 24],
    ['2002:909:909::1', 32],
    ['::1.2.3.4', 96],
    ['2003::1', 16],
  ] as const
  for (const [text, length] of lengths) {
    it(`is ${length} for ${text}`, () => {
      const mmdb = openMmdb(mmdbBytes({ '1.2.3.0/24': { v: 4 }, '2002:909::/32': { v: 6 } }))
      assert.equal(mmdb.matchedBits(addressOf(text)), length)
    })
  }
})

/** mmdb-lib gives an IPv4 address the record of an IPv6 network that holds ::/96. */
function withoutBroad(inserted: Networks): Networks {
  return inserted.map(({ address, prefix }) => ({
    address,
    prefix: address.version === 4 ? prefix : Math.max(16, prefix),
  }))
}
