import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { AddressSummary } from '../../../lib/contract/geo/summary.ts'
import { countTurns } from '../../support/count-turns.ts'
import { codeOf, makeApp } from '../../support/helpers.ts'
import { plansFile } from '../../support/plans-file.ts'
import { sharedScene } from '../../support/scene/scene.ts'

const app = sharedScene({ env: { MERIDIAN_PLANS: plansFile() } }, async () => {
  await ada.key({ plan: 'fast' })
})
const ada = app.user('ada')

const post = (body: unknown, by = ada) => by.send('POST', '/v1/ip/summary', body)

async function summarize(ips: readonly string[], more: object = {}, by = ada) {
  const { status, body } = await post({ ips, ...more }, by)
  assert.equal(status, 200)
  return v.parse(AddressSummary, body)
}

const london = (count: number) => Array.from({ length: count }, (_, n) => `81.2.69.${n % 256}`)

describe('POST /v1/ip/summary', () => {
  it('counts addresses by precision, country, region, city and network', async () => {
    const ips = [...london(3), '8.8.8.8', '8.8.8.9', '5.0.0.1', '6.0.0.1', '12.0.0.1', '10.0.0.1']
    const { meta, ...counts } = await summarize(ips)
    assert.deepEqual(counts, {
      addresses: { total: 9, distinct: 9, invalid: 0 },
      precision: { city: 4, region: 2, country: 0, continent: 1, none: 2 },
      countries: [
        { code: 'GB', name: 'United Kingdom', count: 3 },
        { code: 'US', name: 'United States', count: 2 },
        { code: 'DE', name: 'Germany', count: 1 },
      ],
      regions: [
        { code: 'GB-ENG', name: 'England', count: 3 },
        { code: 'US-CA', name: 'California', count: 2 },
      ],
      cities: [
        { name: 'London', region: 'GB-ENG', country: 'GB', count: 3 },
        { name: 'Berlin', country: 'DE', count: 1 },
      ],
      networks: [
        { asn: 'AS20712', organization: 'Andrews & Arnold Ltd', count: 3 },
        { asn: 'AS15169', organization: 'Google LLC', count: 2 },
        { asn: 'AS7018', organization: 'AT&T', count: 1 },
      ],
    })
    assert.equal(meta.degraded, false)
  })

  it('counts an address each time it occurs, and texts that are not addresses apart', async () => {
    const spellings = ['2A00:1450:4009::1', '2a00:1450:4009:0::1', '2a00:1450:4009::1']
    const { addresses, cities, precision } = await summarize([...spellings, 'nope', '', 'nope'])
    assert.deepEqual(addresses, { total: 6, distinct: 1, invalid: 3 })
    assert.equal(cities[0]?.count, 3)
    assert.equal(precision.none, 0)
  })

  it('lists only the most frequent values', async () => {
    const ips = ['5.0.0.1', ...london(2), '8.8.8.8', '8.8.8.8', '8.8.8.8']
    const { countries } = await summarize(ips, { top: 2 })
    const counts = countries.map(({ code, count }) => `${code} ${count}`)
    assert.deepEqual(counts, ['US 3', 'GB 2'])
  })

  it('counts each address towards the cap, and reduces the locations of those over it', async () => {
    const tiny = app.user('tiny')
    await tiny.key({ plan: 'tiny' })
    const { precision, networks, meta } = await summarize(['nope', ...london(14)], {}, tiny)
    assert.equal(meta.degraded, true)
    assert.deepEqual([precision.city, precision.country, networks[0]?.count], [10, 4, 10])
    const usage = await tiny.send('GET', '/v1/account/me/usage')
    assert.equal(Object(usage.body).totalRequests, 14)
  })

  it('is charged one request per hundred addresses, at most the whole limit of a minute', async () => {
    const [free, other] = [app.user('free'), app.user('other')]
    for (const user of [free, other]) await user.key({ plan: 'free' })
    const rate = async (count: number) => {
      const { status, headers } = await post({ ips: london(count) }, free)
      return [status, /r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]]
    }
    assert.deepEqual(await rate(201), [200, '7'])
    assert.equal(codeOf(await post({ ips: london(10_000) }, free)), 'RATE_LIMITED')
    const whole = await post({ ips: london(10_000) }, other)
    assert.equal(whole.status, 200)
    assert.match(whole.headers.get('ratelimit') ?? '', /r=0/)
  })

  it('lets other work run while it locates', async () => {
    const spin = () => {
      const end = performance.now() + 0.2
      while (performance.now() < end);
    }
    await using busy = await makeApp({
      env: { MERIDIAN_PLANS: plansFile() },
      replace: ({ geo }) => {
        const find: typeof geo.find = (address) => {
          spin()
          return geo.find(address)
        }
        return { geo: { ...geo, find } }
      },
    })
    const bob = busy.user('bob')
    await bob.key({ plan: 'fast' })
    using turns = countTurns()
    assert.equal((await post({ ips: london(1_000) }, bob)).status, 200)
    assert.ok(turns.count() > 20, String(turns.count()))
  })

  const bad: [string, unknown][] = [
    ['an empty list', { ips: [] }],
    ['10,001 addresses', { ips: london(10_001) }],
    ['a top of zero', { ips: london(1), top: 0 }],
    ['a top of 1,001', { ips: london(1), top: 1_001 }],
    ['a number as an address', { ips: [1] }],
  ]
  for (const [name, body] of bad) {
    it(`refuses ${name}`, async () => assert.equal(codeOf(await post(body)), 'BAD_REQUEST'))
  }

  it('accepts 10,000 addresses of any length', async () => {
    const ips = Array.from({ length: 10_000 }, () => '2a00:1450:4009:1111:2222:3333:4444:5555')
    assert.equal((await summarize(ips)).addresses.total, 10_000)
  })
})
