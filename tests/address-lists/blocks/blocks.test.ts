import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { expandBlocks, summariseBlocks } from '../../../lib/address-lists/blocks/blocks.ts'
import { commonResult } from '../../../lib/address-lists/blocks/common-result.ts'
import type { GeolocationResult } from '../../../lib/contract/geo/geolocation.ts'
import { parseAddress } from '../../../lib/parts/net/address.ts'
import { blockText, parseBlock } from '../../../lib/parts/net/block.ts'
import { contains, parseNetwork } from '../../../lib/parts/net/network.ts'

const EUROPE = { code: 'EU', name: 'Europe' }
const GERMANY = { code: 'DE', name: 'Germany', flag: '🇩🇪', unions: ['EU'] }
const BERLIN = { code: 'DE-BE', name: 'Berlin' }
const TIME = { timezone: 'Europe/Berlin', utcOffset: '+01:00' }

type Location = GeolocationResult['location']
const inCity = (city: string, postalCode?: string): Location => ({
  ...{ continent: EUROPE, country: GERMANY, region: BERLIN, city },
  ...(postalCode !== undefined && { postalCode }),
  ...TIME,
})
const inRegion: Location = { continent: EUROPE, country: GERMANY, region: BERLIN, ...TIME }
const hesse = { code: 'DE-HE', name: 'Hesse' }
const inHesse: Location = { ...inCity('Kassel'), continent: EUROPE, region: hesse }
const country = { code: 'DE', name: 'Germany' }
const inFrance: Location = { continent: EUROPE, country: { code: 'FR', name: 'France' } }
const inJapan: Location = { continent: { code: 'AS', name: 'Asia' } }

function precisionOf(location: Location) {
  if (location === undefined) return 'none'
  if (location.city !== undefined) return 'city'
  if (location.region !== undefined) return 'region'
  return location.country === undefined ? 'continent' : 'country'
}

const result = (location: Location, asn?: string): GeolocationResult => ({
  ...(location && { location }),
  ...(asn !== undefined && { network: { asn, organization: `Of ${asn}` } }),
  sources: { ...(location && { geo: ['one'] }), ...(asn !== undefined && { asn: ['two'] }) },
  meta: { precision: precisionOf(location) },
})

/** Answers from a table of networks, which together are everything. */
function askIn(table: Readonly<Record<string, GeolocationResult>>) {
  const asked: string[] = []
  const ask = async (texts: readonly string[]) =>
    texts.map((text) => {
      asked.push(text)
      const address = parseAddress(text)
      assert.ok(address)
      const [prefix = '', found] =
        Object.entries(table).find(([network]) => {
          const known = parseNetwork(network)
          return known !== null && contains(known, address)
        }) ?? []
      return JSON.stringify({ ...found, network: { ...found?.network, prefix } })
    })
  return { ask, asked }
}

const OPTIONS = { most: 10, hasPrefix: false }

function blocksOf(...texts: readonly string[]) {
  return texts.map((text) => {
    const block = parseBlock(text)
    assert.ok(block, text)
    return block
  })
}

describe('what the addresses of a block have in common', () => {
  const rows: readonly (readonly [name: string, parts: Location[], expected: Location])[] = [
    ['the city', [inCity('Berlin', '1'), inCity('Berlin', '1')], inCity('Berlin', '1')],
    [
      'the city without what differs',
      [inCity('Berlin', '1'), inCity('Berlin', '2')],
      inCity('Berlin'),
    ],
    ['the region, of two cities', [inCity('Berlin'), inCity('Bernau')], inRegion],
    ['the region, of a city and a region', [inCity('Berlin'), inRegion], inRegion],
    ['the country, by code and name', [inCity('Berlin'), inHesse], { continent: EUROPE, country }],
    [
      'the country, of a city and a country',
      [inCity('Berlin'), { continent: EUROPE, country }],
      { continent: EUROPE, country },
    ],
    ['the continent', [inCity('Berlin'), inFrance], { continent: EUROPE }],
    ['nothing, of two continents', [inCity('Berlin'), inJapan], undefined],
    ['nothing, if one is unknown', [inCity('Berlin'), undefined], undefined],
  ]
  for (const [name, parts, expected] of rows) {
    for (const [order, [one, other]] of [
      ['', parts],
      [' the other way round', parts.toReversed()],
    ] as const) {
      it(`is ${name}${order}`, () => {
        const common = commonResult(result(one, 'AS1'), result(other, 'AS1'))
        assert.deepEqual(common.location, expected)
        assert.equal(common.meta?.precision, precisionOf(expected))
        assert.deepEqual(common.network, { asn: 'AS1', organization: 'Of AS1' })
      })
    }
  }
})

describe('summariseBlocks', () => {
  const table = {
    '10.0.0.0/9': result(inCity('Berlin'), 'AS1'),
    '10.128.0.0/10': result(inCity('Bernau'), 'AS1'),
    '0.0.0.0/0': result(inJapan),
  }

  it('asks once for each part, and answers in order', async () => {
    const { ask, asked } = askIn(table)
    const [one, two, three] = await summariseBlocks(
      blocksOf('10.0.0.0/16', '10.0.0.0/8', '10.127.255.255 - 10.128.0.1'),
      ask,
      OPTIONS,
    )
    assert.deepEqual(one, {
      query: { type: 'network', value: '10.0.0.0/16', ipVersion: 4 },
      ...result(inCity('Berlin'), 'AS1'),
    })
    assert.deepEqual(two, {
      query: { type: 'network', value: '10.0.0.0/8', ipVersion: 4 },
      meta: { precision: 'none' },
    })
    assert.deepEqual(three?.query, {
      type: 'range',
      value: '10.127.255.255 - 10.128.0.1',
      ipVersion: 4,
    })
    assert.deepEqual('meta' in (three ?? {}) && three, {
      query: three?.query,
      ...result(inRegion, 'AS1'),
    })
    // 10.192.0.0/10 is not in the narrower ones; the table is asked for it once.
    assert.equal(asked.length, 6)
  })

  it('keeps the prefix only if it is asked for and the same for all', async () => {
    const { ask } = askIn(table)
    const prefixOf = async (text: string, hasPrefix: boolean) => {
      const [found] = await summariseBlocks(blocksOf(text), ask, { ...OPTIONS, hasPrefix })
      return found && 'network' in found ? found.network?.prefix : undefined
    }
    assert.equal(await prefixOf('10.0.0.0/16', true), '10.0.0.0/9')
    assert.equal(await prefixOf('10.0.0.0/16', false), undefined)
    assert.equal(await prefixOf('10.127.0.0 - 10.128.0.1', true), undefined)
  })

  it('stops where nothing is left in common, and refuses a block of too many parts', async () => {
    const narrow = Object.fromEntries(
      Array.from({ length: 32 }, (_, at) => [`10.0.0.${at * 8}/29`, result(inCity('Berlin'))]),
    )
    const { ask, asked } = askIn(narrow)
    const [refused] = await summariseBlocks(blocksOf('10.0.0.0/24'), ask, OPTIONS)
    assert.deepEqual(refused, {
      query: { type: 'network', value: '10.0.0.0/24' },
      error: {
        code: 'BAD_REQUEST',
        message: 'The block has more than 10 parts with answers of their own; split it',
      },
    })
    assert.equal(asked.length, 11)
    const [whole] = await summariseBlocks(blocksOf('10.0.0.0 - 10.0.0.79'), ask, OPTIONS)
    assert.equal(whole && 'location' in whole && whole.location?.city, 'Berlin')
    const other = askIn({ ...narrow, '10.0.0.0/29': result(inJapan) })
    await summariseBlocks(blocksOf('10.0.0.0/24'), other.ask, OPTIONS)
    assert.equal(other.asked.length, 2)
  })
})

describe('expandBlocks', () => {
  it('goes through any block without gaps, by the answers of its addresses', async () => {
    const names = ['Berlin', 'Bernau', 'Köln', 'Potsdam']
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...names), { minLength: 16, maxLength: 16 }),
        fc.integer({ min: 0, max: 127 }),
        fc.integer({ min: 0, max: 127 }),
        async (cities, from, length) => {
          const table = cities.map((city, at) => [`10.0.0.${at * 16}/28`, result(inCity(city))])
          const block = blocksOf(`10.0.0.${from} - 10.0.0.${from + length}`)
          const { ask } = askIn(Object.fromEntries(table))
          const [parts = []] = await expandBlocks(block, ask, { most: 16, hasPrefix: false })
          let next = BigInt(10 * 2 ** 24 + from)
          for (const part of parts) {
            const own = parseBlock(part.query?.value ?? '')
            assert.equal(own?.first, next)
            next = own.last + 1n
            const city = cities[Math.floor(Number(own.first % 256n) / 16)]
            assert.equal('location' in part && part.location?.city, city)
          }
          assert.equal(next - 1n, block[0]?.last)
          assert.ok(block[0] && blockText(block[0]).length > 0)
        },
      ),
      { numRuns: 100 },
    )
  })
})
