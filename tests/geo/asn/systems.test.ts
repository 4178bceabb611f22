import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { MINUTE_MS } from '../../../lib/durations.ts'
import { locate } from '../../../lib/geo/answer/locate.ts'
import type { NetworkList } from '../../../lib/geo/asn/prefixes.ts'
import { createSystems } from '../../../lib/geo/asn/systems.ts'
import { walkSystems } from '../../../lib/geo/asn/walk.ts'
import { type GeoDatabase, openDatabase } from '../../../lib/geo/database.ts'
import { operatorFiles } from '../../../lib/geo/files/source-files.ts'
import { openLibrary } from '../../../lib/geo/library.ts'
import { type Address, ipv4FromBits, parseAddress } from '../../../lib/net/address.ts'
import { contains, networkText, parseNetwork } from '../../../lib/net/network.ts'
import { mmdbBytes } from '../../support/geo-files.ts'
import { recordingLog } from '../../support/helpers.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const folder = tempFolder()
let count = 0

const as = (number: number, organization = `Owner of ${number}`) => ({
  autonomous_system_number: number,
  autonomous_system_organization: organization,
})

type Records = Parameters<typeof mmdbBytes>[0]

async function open(records: Records, databaseType = 'GeoLite2-ASN'): Promise<GeoDatabase> {
  const path = join(folder, `${count++}.mmdb`)
  writeFileSync(path, mmdbBytes(records, { databaseType }))
  return openDatabase(path, { map: false, cacheBits: 8, regionCode: () => undefined })
}

function systemsOf(databases: readonly GeoDatabase[], now = () => 0) {
  const log = recordingLog()
  const lookUp = (address: Address) => locate(databases, address)
  return { ...createSystems({ databases: () => databases, lookUp, log, now }), log }
}

function texts(list: NetworkList): string[] {
  return Array.from({ length: list.length }, (_, n) => {
    const { address, prefix } = list.at(n)
    return networkText(address, prefix)
  })
}

async function prefixesOf(databases: readonly GeoDatabase[], asn: number): Promise<string[]> {
  const system = await systemsOf(databases).find(asn)
  return system === null ? [] : [...texts(system.ipv4), ...texts(system.ipv6)]
}

describe('the prefixes of an autonomous system', () => {
  it('are listed by address, IPv4 first', async () => {
    const database = await open({
      '2a00:2::/32': as(7),
      '200.0.0.0/8': as(7),
      '2.0.0.0/24': as(7),
      '2a00:1::/32': as(7),
      '1.0.0.0/16': as(8),
    })
    assert.deepEqual(await prefixesOf([database], 7), [
      '2.0.0.0/24',
      '200.0.0.0/8',
      '2a00:1::/32',
      '2a00:2::/32',
    ])
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
    assert.deepEqual(await prefixesOf([database], 7), [
      '10.0.0.0/22',
      '10.0.4.0/24',
      '10.0.6.0/23',
      '2a00::/32',
    ])
  })

  it('follow the first database that knows the system of an address', async () => {
    const overlay = await open(
      { '10.0.0.0/26': as(1), '10.0.1.0/24': { domain: 'only.example' } },
      'Meridian-Overlay',
    )
    const database = await open({ '10.0.0.0/23': as(7) })
    assert.deepEqual(await prefixesOf([overlay, database], 1), ['10.0.0.0/26'])
    assert.deepEqual(await prefixesOf([overlay, database], 7), [
      '10.0.0.64/26',
      '10.0.0.128/25',
      '10.0.1.0/24',
    ])
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
        const overlay = await open({ '255.0.0.0/8': as(9), ...recordsOf(high) }, 'Meridian-Overlay')
        const databases = [overlay, await open(recordsOf(low))]
        const listed = await Promise.all([1, 2, 3].map((asn) => prefixesOf(databases, asn)))
        for (let bits = 0; bits <= 0xff; bits++) {
          const address = ipv4FromBits(bits)
          const owners = listed.flatMap((prefixes, n) =>
            prefixes.filter((one) => covers(one, address.text)).map(() => `AS${n + 1}`),
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
  const [outer, address] = [parseNetwork(network), parseAddress(text)]
  assert.ok(outer !== null && address !== null)
  return contains(outer, address)
}

describe('the summary of an autonomous system', () => {
  it('counts a prefix as a whole for the country of its first address', async () => {
    const country = (code: string, name: string) => ({
      country: { iso_code: code, names: { en: name } },
    })
    const places = await open(
      {
        '10.0.0.0/25': country('GB', 'United Kingdom'),
        '10.0.0.128/25': country('FR', 'France'),
        '20.0.0.0/8': country('DE', 'Germany'),
        '2a00::/16': country('GB', 'United Kingdom'),
      },
      'GeoLite2-City',
    )
    const owners = await open({
      '10.0.0.0/24': as(7),
      '20.0.0.0/30': as(7),
      '30.0.0.0/32': as(7),
      '2a00::/20': as(7),
    })
    const system = await systemsOf([places, owners]).find(7)
    const none = { prefixes: 0, addresses: '0' }
    const large = { prefixes: 1, addresses: String(2n ** 108n) }
    assert.deepEqual(system?.summary, {
      organization: 'Owner of 7',
      ipv4: { prefixes: 3, addresses: 256 + 4 + 1 },
      ipv6: large,
      countries: [
        { code: 'GB', name: 'United Kingdom', ipv4: { prefixes: 1, addresses: 256 }, ipv6: large },
        { code: 'DE', name: 'Germany', ipv4: { prefixes: 1, addresses: 4 }, ipv6: none },
      ],
    })
  })

  it('has the first organization and the first domain that are known', async () => {
    const owners = await open({
      '10.0.0.0/24': { autonomous_system_number: 7 },
      '10.0.2.0/24': as(7, 'First'),
      '10.0.4.0/24': as(7, 'Second'),
    })
    const domains = await open({ '10.0.4.0/24': { domain: 'seven.example' } }, 'GeoIP2-Domain')
    const { summary } = (await systemsOf([owners, domains]).find(7)) ?? {}
    assert.equal(summary?.organization, 'First')
    assert.equal(summary?.domain, 'seven.example')
  })
})

describe('the index of autonomous systems', () => {
  it('is made once for requests at the same time, and again after ten minutes without one', async () => {
    let walks = 0
    const database = await open({ '10.0.0.0/24': as(7) })
    const counting: GeoDatabase = {
      ...database,
      systems: (version) => {
        if (version === 4) walks += 1
        return database.systems(version)
      },
    }
    let time = 0
    const systems = systemsOf([counting], () => time)
    await Promise.all([systems.find(7), systems.find(7), systems.find(8)])
    assert.equal(walks, 1)
    time += 10 * MINUTE_MS - 1
    systems.dropIfUnused()
    await systems.find(7)
    assert.equal(walks, 1)
    time += 10 * MINUTE_MS
    systems.dropIfUnused()
    await systems.find(7)
    assert.equal(walks, 2)
  })

  it('is renewed when a file is replaced', async () => {
    const directory = join(folder, 'geo')
    const path = join(folder, 'replaced.mmdb')
    writeFileSync(path, mmdbBytes({ '10.0.0.0/24': as(7) }))
    const library = await openLibrary({
      findFiles: () => operatorFiles(directory, [path]),
      map: true,
      cacheBits: 8,
      regionCode: () => undefined,
      log: recordingLog(),
    })
    assert.deepEqual(texts((await library.findSystem(7))?.ipv4 ?? assert.fail()), ['10.0.0.0/24'])
    writeFileSync(path, mmdbBytes({ '10.0.0.0/24': as(8), '20.0.0.0/8': as(7) }))
    await library.refresh()
    await library.refresh()
    assert.deepEqual(texts((await library.findSystem(7))?.ipv4 ?? assert.fail()), ['20.0.0.0/8'])
  })

  it('is not made of a tree with cycles, which is 503', async () => {
    const database = await open({ '10.0.0.0/24': as(7) })
    const damaged: GeoDatabase = {
      ...database,
      systems: () => ({ root: 0, nodeCount: 10, child: () => 1, asn: () => 0 }),
    }
    const { find, log } = systemsOf([damaged])
    await assert.rejects(find(7), { code: 'SERVICE_UNAVAILABLE' })
    await assert.rejects(find(7), { code: 'SERVICE_UNAVAILABLE' })
    assert.deepEqual(
      log.events.map(({ message }) => message),
      ['cannot list the prefixes of autonomous systems'],
    )
  })

  it('is made in steps', async () => {
    const records: Record<string, ReturnType<typeof as>> = {}
    for (let n = 0; n < 256; n++) records[`10.${n}.0.0/24`] = as(n + 1)
    const steps = [...walkSystems([(await open(records)).systems(4)], 4, () => {})]
    assert.ok(steps.length > 20, String(steps.length))
  })
})
