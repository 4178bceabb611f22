import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { locate } from '../../../lib/geo/answer/locate.ts'
import { openMmdb } from '../../../lib/geo/mmdb/mmdb.ts'
import { ipv4FromBits } from '../../../lib/parts/net/address.ts'
import { contains, networkText } from '../../../lib/parts/net/network.ts'
import { mmdbBytes, type Records } from '../../support/geo-files.ts'
import { addressOf, networkOf } from '../../support/networks.ts'
import { openBytes, openRecords } from '../open-file.ts'
import { as, open, prefixesOf } from './open-systems.ts'

describe('the prefixes of an autonomous system', () => {
  it('are listed by address, IPv4 first', async () => {
    const database = await open({
      '2a00:2::/32': as(7),
      '200.0.0.0/8': as(7),
      '2.0.0.0/24': as(7),
      '2a00:1::/32': as(7),
      '1.0.0.0/16': as(8),
    })
    const expected = ['2.0.0.0/24', '200.0.0.0/8', '2a00:1::/32', '2a00:2::/32']
    assert.deepEqual(await prefixesOf([database], 7), expected)
    assert.deepEqual(await prefixesOf([database], 9), [])
  })

  it('are the fewest, though records of one system have different organizations', async () => {
    const database = await open({
      '10.0.0.0/24': as(7, 'One'),
      '10.0.1.0/24': as(7, 'Another'),
      '10.0.2.0/23': as(7, 'Third'),
      '10.0.4.0/24': as(7, 'One'),
      '10.0.5.0/24': as(8),
      '10.0.6.0/24': as(7, 'One'),
      '10.0.7.0/24': as(7, 'Another'),
      '2a00::/33': as(7, 'One'),
      '2a00:0:8000::/33': as(7, 'Another'),
    })
    const expected = ['10.0.0.0/22', '10.0.4.0/24', '10.0.6.0/23', '2a00::/32']
    assert.deepEqual(await prefixesOf([database], 7), expected)
  })

  it('follow the first database that knows the system of an address', async () => {
    const own = { '10.0.0.0/26': as(1), '10.0.1.0/24': { domain: 'only.example' } }
    const overlay = await openRecords(own, 'Meridian-Overlay')
    const database = await open({ '10.0.0.0/23': as(7) })
    assert.deepEqual(await prefixesOf([overlay, database], 1), ['10.0.0.0/26'])
    const rest = ['10.0.0.64/26', '10.0.0.128/25', '10.0.1.0/24']
    assert.deepEqual(await prefixesOf([overlay, database], 7), rest)
  })

  it('leave out the IPv6 ranges that are looked up as IPv4', async () => {
    const database = await open({ '2000::/15': as(7), '::/8': as(8), '9.0.0.0/8': as(9) })
    const seven = await prefixesOf([database], 7)
    const addresses = ['2000::', '2001:1::', '2001:ffff::', '2002::', '2001::', '2001:0:1::']
    const covered = addresses.filter((text) => seven.some((one) => covers(one, text)))
    assert.deepEqual(covered, ['2000::', '2001:1::', '2001:ffff::'])
    assert.deepEqual(await prefixesOf([database], 9), ['9.0.0.0/8'])
    const eight = await prefixesOf([database], 8)
    for (const text of ['::1', '::9.0.0.1', '::ffff:9.0.0.1']) {
      assert.ok(!eight.some((one) => covers(one, text)), text)
    }
    assert.ok(eight.some((one) => covers(one, '::1:0:0:0')))
  })

  it('leave out the aliases of IPv4 in IPv6, as MaxMind has them', async () => {
    const records = { '9.0.0.0/8': as(7), '99.0.0.0/8': as(7), '2002::/16': as(8) }
    const bytes = mmdbBytes(records, { databaseType: 'GeoLite2-ASN', recordSize: 24 })
    const { branches } = openMmdb(bytes)
    const { root, child } = branches(6)
    let node = root
    for (const bit of '001000000000001') node = child(node, bit === '1' ? 1 : 0)
    bytes.writeUIntBE(branches(4).root, node * 6, 3)
    const database = await openBytes(bytes)
    assert.equal(database.find(addressOf('2002:900::')).network?.asn, 'AS7')
    assert.deepEqual(await prefixesOf([database], 7), ['9.0.0.0/8', '99.0.0.0/8'])
    assert.deepEqual(await prefixesOf([database], 8), [])
  })

  it('are listed though the file has the same record for all of IPv4', async () => {
    const database = await open({ '::/8': as(7), '2a00::/16': as(7) })
    const prefixes = await prefixesOf([database], 7)
    assert.deepEqual([prefixes[0], prefixes.at(-1)], ['0.0.0.0/0', '2a00::/16'])
    assert.ok(!prefixes.some((one) => covers(one, '::1') || covers(one, '::ffff:0:1')))
  })

  it('may be everything', async () => {
    assert.deepEqual(await prefixesOf([await open({ '0.0.0.0/0': as(7) })], 7), ['0.0.0.0/0'])
  })

  it('cover exactly the addresses that a look-up finds in the system', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(Row, { minLength: 1 }), fc.array(Row), async (low, high) => {
        const own = { '255.0.0.0/8': as(9), ...recordsOf(high) }
        const databases = [await openRecords(own, 'Meridian-Overlay'), await open(recordsOf(low))]
        const listed = await Promise.all([1, 2, 3].map((asn) => prefixesOf(databases, asn)))
        const networks = listed.map((prefixes) => prefixes.map(networkOf))
        for (let bits = 0; bits <= 0xff; bits++) {
          const address = ipv4FromBits(bits)
          const owners = networks.flatMap((within, n) =>
            within.filter((one) => contains(one, address)).map(() => `AS${n + 1}`),
          )
          const asn = locate(databases, address).network?.asn
          assert.deepEqual(owners, asn === undefined ? [] : [asn], address.text)
        }
      }),
      { numRuns: 30 },
    )
  })
})

/** A network below 0.0.0.0/24 and its system. */
const Row = fc.tuple(fc.nat(0xff), fc.integer({ min: 24, max: 32 }), fc.integer({ min: 1, max: 3 }))

function recordsOf(rows: readonly (readonly [number, number, number])[]): Records {
  const broadFirst = rows.toSorted(([, one], [, other]) => one - other)
  return Object.fromEntries(
    broadFirst.map(([bits, length, asn]) => [networkText(ipv4FromBits(bits), length), as(asn)]),
  )
}

function covers(network: string, text: string): boolean {
  return contains(networkOf(network), addressOf(text))
}
