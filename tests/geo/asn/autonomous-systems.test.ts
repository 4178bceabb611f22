import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { AutonomousSystem } from '../../../lib/contract/geo/autonomous-systems.ts'
import { geoFiles, mmdbBytes } from '../../support/geo-files.ts'
import { codeOf } from '../../support/helpers.ts'
import { plansFile } from '../../support/plans-file.ts'
import { sharedScene } from '../../support/scene/scene.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { as } from './open-systems.ts'

const london = as(20712, 'Andrews & Arnold Ltd')
const SYSTEMS = {
  '81.2.69.0/25': london,
  '90.0.0.0/30': london,
  '2a00:1450:4009::/48': london,
  '8.8.8.0/24': { autonomous_system_number: 4_294_967_295 },
}

const { city, ipinfo } = geoFiles()
const asn = join(tempFolder(), 'asn.mmdb')
writeFileSync(asn, mmdbBytes(SYSTEMS, { databaseType: 'GeoLite2-ASN' }))
const env = { MERIDIAN_GEO: [city, asn, ipinfo].join(','), MERIDIAN_PLANS: plansFile() }
const app = sharedScene({ env }, async () => {
  await ada.key({ plan: 'fast' })
})
const ada = app.user('ada')

const get = (path: string, by = ada) => by.send('GET', `/v1/asn/${path}`)

async function found(path: string) {
  const { status, body } = await get(path)
  assert.equal(status, 200)
  return v.parse(AutonomousSystem, body)
}

describe('GET /v1/asn/{asn}', () => {
  it('answers with owner, size, countries and prefixes of the system', async () => {
    const { meta, ...system } = await found('AS20712')
    const ipv6 = { prefixes: 1, addresses: '1208925819614629174706176' }
    assert.deepEqual(system, {
      asn: 'AS20712',
      organization: 'Andrews & Arnold Ltd',
      domain: 'aa.net.uk',
      // IPinfo's file has the other half of 81.2.69.0/24.
      ipv4: { prefixes: 2, addresses: 260 },
      ipv6,
      countries: [
        { code: 'GB', name: 'United Kingdom', ipv4: { prefixes: 1, addresses: 256 }, ipv6 },
      ],
      prefixes: [
        { prefix: '81.2.69.0/24', country: 'GB' },
        { prefix: '90.0.0.0/30' },
        { prefix: '2a00:1450:4009::/48', country: 'GB' },
      ],
      total: 3,
      limit: 100,
      offset: 0,
    })
    assert.equal(meta.tier, 'fast')
  })

  it('accepts the number in the forms of RFC 5396, with and without AS or ASN, in any case', async () => {
    for (const text of [
      '20712',
      'as20712',
      'As20712',
      '0020712',
      'ASN20712',
      'AS0.20712',
      '0.20712',
    ]) {
      assert.equal((await found(text)).asn, 'AS20712')
    }
    assert.equal((await found('4294967295')).asn, 'AS4294967295')
  })

  it('lists one family, in pages', async () => {
    const pages = [
      ['?family=4', ['81.2.69.0/24', '90.0.0.0/30'], 2],
      ['?family=6', ['2a00:1450:4009::/48'], 1],
      ['?limit=1', ['81.2.69.0/24'], 3],
      ['?limit=2&offset=1', ['90.0.0.0/30', '2a00:1450:4009::/48'], 3],
      ['?limit=1000&offset=2', ['2a00:1450:4009::/48'], 3],
      ['?offset=3', [], 3],
      ['?family=6&offset=999999999', [], 1],
    ] as const
    for (const [query, prefixes, total] of pages) {
      const page = await found(`20712${query}`)
      assert.deepEqual([page.prefixes.map(({ prefix }) => prefix), page.total], [prefixes, total])
      assert.equal(page.ipv4.prefixes, 2)
    }
  })

  it('answers 400 for an invalid query', async () => {
    const queries = ['family=5', 'family=', 'limit=0', 'limit=1001', 'limit=x', 'offset=-1']
    for (const query of [...queries, 'offset=1.5', 'offset=1000000000']) {
      assert.equal(codeOf(await get(`20712?${query}`)), 'BAD_REQUEST', query)
    }
  })

  const malformed = ['x', 'AS', 'AS-1', '-1', '1.', '1e3', '4294967296', 'ASX1', 'AS 20712']
  for (const text of [...malformed, '20712%20', '99999999999', '%E2%91%A0', '0x51', '1.1.1.1']) {
    it(`answers 400 with the text in query for ${text}`, async () => {
      const answer = await get(text.replaceAll(' ', '%20'))
      assert.equal(codeOf(answer), 'BAD_REQUEST')
      const query = { type: 'asn', value: decodeURIComponent(text) }
      assert.deepEqual(Object(answer.body).query, query)
    })
  }

  it('answers 404 for a system without prefixes', async () => {
    for (const text of ['64496', '0', 'as64496']) {
      const answer = await get(text)
      assert.equal(answer.status, 404)
      assert.equal(codeOf(answer), 'NOT_FOUND')
      const value = `AS${text.replace('as', '')}`
      assert.deepEqual(Object(answer.body).query, { type: 'asn', value })
    }
  })

  it('counts 200 and 404 towards the cap, and is 403 over it', async () => {
    const tiny = app.user('tiny')
    await tiny.key({ plan: 'tiny' })
    for (let n = 0; n < 5; n++) {
      assert.equal((await get('20712', tiny)).status, 200)
      assert.equal((await get('64496', tiny)).status, 404)
      assert.equal((await get('x', tiny)).status, 400)
    }
    const over = await get('20712', tiny)
    assert.equal(codeOf(over), 'PLAN_CAP_EXCEEDED')
    assert.equal(codeOf(await get('64496', tiny)), 'PLAN_CAP_EXCEEDED')
    assert.equal(codeOf(await get('x', tiny)), 'BAD_REQUEST')
    const usage = await tiny.send('GET', '/v1/account/me/usage')
    assert.equal(Object(usage.body).totalRequests, 10)
  })

  it('answers pages of the origins of a publishable key', async () => {
    const shop = app.user('shop')
    await shop.key({ type: 'publishable', origins: ['https://shop.example'] })
    const from = (origin: string) =>
      shop.send('GET', '/v1/asn/20712', undefined, { headers: { origin } })
    const answer = await from('https://shop.example')
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('access-control-allow-origin'), 'https://shop.example')
    assert.match(answer.headers.get('ratelimit') ?? '', /r=\d+/)
    assert.equal(codeOf(await from('https://other.example')), 'ORIGIN_NOT_ALLOWED')
  })
})
