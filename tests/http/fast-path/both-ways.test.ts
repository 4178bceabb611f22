import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openShopOverCap, setOverages } from '../../billing/overages/overages.ts'
import { write } from '../../support/database/sql.ts'
import { geoFiles } from '../../support/geo-files.ts'
import { codeOf, makeApp } from '../../support/helpers.ts'
import { plansFile } from '../../support/plans-file.ts'
import { sharedScene } from '../../support/scene/scene.ts'
import { freshClient } from '../../support/scene/send.ts'
import { words } from '../../support/words.ts'
import { openBothWays, type SendBothWays } from './both-ways.ts'

/*
 * The look-ups of the whole suite, sent both ways: the fast path, which looks up in the atlas, must answer
 * each as the router does.
 */

const LOCATE = '/v1/ip/81.2.69.160'

const QUERIES = words(`
  include=network include=privacy include=network,privacy include=privacy,network a=b
  a=b&lang=en&utm_source=x lang=de lang=ja lang=ru lang=zh-CN lang=en fields=location.city
  fields=location fields=query,meta fields=sources.privacy fields=privacy fields=meta.tier
  fields=location.country.code,location.city fields=location.country.code%2Clocation.city
  fields=location.city,location.country.name,location.city&lang=ja
  fields=location.coordinates,network.asn,query.value&include=network
  fields=location.country,location.country.code,network.prefix
  fields=location.confidence.city&include=confidence,privacy
  lang=de&fields=location.country.name&ref=a+b%20c`)

const LOOK_UPS: Readonly<Record<number, readonly string[]>> = {
  200: [
    ...words(`
      1.2.3.4/validation 1.2.3/validation 10.0.0.1/validation 11.0.0.1 14.0.0.1 14.0.0.1/timezone
      16.0.0.1 17.0.0.1 5.0.0.1 5.0.0.1/timezone 5.0.0.1?include=privacy 6.0.0.1 7.0.0.1
      7.0.0.1/timezone 8.8.8.8 8.8.8.8?include=privacy 9.0.0.1 9.0.0.1/timezone 81.2.69.1
      2001:0:0:0:0:0:aefd:ba5f 2001::aefd:ba5f 2001::aefd:ba5f?include=network 2002:5102:45a0::1
      2002:5102:45a0::1?include=network 2a00:1450:4009::1 2a00:1450:4009::1?include=network
      81.2.69.160 81.2.69.160/timezone 81.2.69.160/validation 81.2.69.161 81.2.69.161?include=network
      9.0.0.1?lang=de 9.0.0.1?lang=fr&include=network 2a00:1450:4009::1?lang=es
      7.0.0.1?fields=location.city`),
    ...['', ...QUERIES].map((query) => `81.2.69.160?${query}`),
  ],
  400: ['081.2.69.160', '1.2.3', '1.2.3.4.5', '256.1.1.1'],
  404: words(`
    0.0.0.0 10.0.0.1 10.0.0.1/timezone 12.0.0.1 13.0.0.1 fe80::1 2001:218::1
    10.0.0.1?include=network 10.0.0.1?include=privacy 10.0.0.1?lang=de 10.0.0.1?fields=location
    me me?lang=de me?fields=location.city me/timezone`),
}

const accepting = (accept: string) => ({ accept })
const HEADERS: readonly Readonly<Record<string, string>>[] = [
  { 'x-request-id': '6f6b1d3e-56c6-4a08-8a0c-9d3a6a3a5a01' },
  { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' },
  { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-"}{-01' },
  { 'x-forwarded-for': '198.51.100.23' },
  ...['text/plain', '*/*', 'text/*;q=0.5, application/json;q=0.4', 'text/html'].map(accepting),
  ...['null', 'https://app.example', 'https://other.example', 'https://dash.example'].map(
    (origin) => ({ origin }),
  ),
  ...['same-origin', 'same-site', 'cross-site', 'none'].map((site) => ({ 'sec-fetch-site': site })),
  { origin: 'https://other.example', 'sec-fetch-site': 'same-origin' },
]

const settings = {
  MERIDIAN_PLANS: plansFile(),
  MERIDIAN_BASE_URL: 'https://geo.example',
  MERIDIAN_CORS_ORIGINS: 'https://dash.example',
  MERIDIAN_TRUSTED_PROXIES: '203.0.113.0/24',
  MERIDIAN_DEMO: '1',
}
let lookUp: SendBothWays
let key: string
const app = sharedScene({ env: settings }, async () => {
  lookUp = await openBothWays(app)
  key = await ada.key({ plan: 'fast' })
})
const ada = app.user('ada')

describe('a look-up with a good key has the same answer both ways', () => {
  for (const [status, paths] of Object.entries(LOOK_UPS)) {
    for (const path of paths) {
      it(`${path}: ${status}`, async () => {
        assert.equal((await lookUp(`/v1/ip/${path}`, { key })).status, Number(status))
      })
    }
  }

  for (const headers of HEADERS) {
    it(`with ${JSON.stringify(headers)}`, async () => {
      const fields = `${LOCATE}?fields=location.city,location.country`
      for (const path of [LOCATE, fields, '/v1/ip/me', '/v1/ip/10.0.0.1', '/v1/ip/1.2.3']) {
        await lookUp(path, { key, headers })
        await lookUp(path, { key, headers, from: '203.0.113.7' })
      }
    })
  }
})

describe('a key has the same answer both ways', () => {
  const origins = ['https://app.example']
  const keys: Readonly<Record<string, () => Promise<string>>> = {
    'of pages': () => ada.key({ plan: 'fast', type: 'publishable', origins }),
    'of the demo': async () => (await app.services.openDemo()) ?? assert.fail(),
    'without the scope': () => ada.key({ plan: 'fast', scopes: ['account:read'] }),
    'with the scope alone': () => ada.key({ plan: 'fast', scopes: ['geo:read'] }),
    'that has expired': () => ada.key({ plan: 'fast', expiresAt: app.services.now() }),
    'that is unknown': async () => 'bad',
  }
  for (const [name, make] of Object.entries(keys)) {
    it(`${name}, whatever page sends it`, async () => {
      const key = await make()
      for (const headers of [{}, { origin: 'https://geo.example' }, ...HEADERS]) {
        await lookUp(LOCATE, { key, headers })
      }
    })
  }

  it('until it is revoked, and after that', async () => {
    const key = await app.user('eve').key({ plan: 'fast' })
    assert.equal((await lookUp(LOCATE, { key })).status, 200)
    await write(app, 'DELETE FROM api_keys WHERE prefix = ?', key.slice(0, 16))
    assert.equal((await lookUp(LOCATE, { key })).status, 401)
  })

  it('of a disabled account', async () => {
    const key = await app.user('bob').key({ plan: 'fast' })
    await write(app, 'UPDATE users SET disabled_at = 1 WHERE email = ?', 'bob@example.com')
    await lookUp(LOCATE, { key })
  })
})

describe('a limit is the same both ways', () => {
  it('of a key, and of all keys of a user', async () => {
    const kim = app.user('kim')
    const keys = [await kim.key({ plan: 'free' }), await kim.key({ plan: 'free' })]
    for (const key of keys) {
      for (let n = 0; n < 10; n++) assert.equal((await lookUp(LOCATE, { key })).status, 200)
      assert.equal((await lookUp(LOCATE, { key })).status, 429)
    }
    for (let n = 0; n < 9; n++) keys.push(await kim.key({ plan: 'free' }))
    const statuses = []
    for (const key of keys) statuses.push((await lookUp(LOCATE, { key })).status)
    assert.ok(statuses.includes(429))
    app.pass(6_000)
    assert.equal((await lookUp(LOCATE, { key: keys[0] })).status, 200)
  })

  it('of an address that sends unknown keys', async () => {
    const from = freshClient()
    const statuses = new Set<number>()
    for (let n = 0; n < 40; n++) statuses.add((await lookUp(LOCATE, { key: 'bad', from })).status)
    assert.deepEqual([...statuses], [401, 429])
  })

  it('of a month', async () => {
    const key = await app.user('tim').key({ plan: 'tiny' })
    const paths = [LOCATE, '/v1/ip/10.0.0.1', `${LOCATE}?include=network,privacy`]
    for (let n = 0; n < 5; n++) for (const path of paths) await lookUp(path, { key })
    const refused = await lookUp(`${LOCATE}/timezone`, { key })
    assert.equal(codeOf(refused), 'PLAN_CAP_EXCEEDED')
    assert.equal((await lookUp(`${LOCATE}/validation`, { key })).status, 200)
  })

  it('of a month that goes on for money', async () => {
    await using shop = await openShopOverCap()
    const pay = await openBothWays(shop.app)
    for (let n = 0; n < 3; n++) await pay(LOCATE, { key: shop.key })
    await setOverages(shop.app, shop.key, false)
    for (let n = 0; n < 3; n++) await pay(LOCATE, { key: shop.key })
  })

  it('after a restart', async () => {
    await using again = await makeApp()
    const key = await again.makeKey({ plan: 'free' })
    for (let n = 0; n < 5; n++) await again.send('GET', LOCATE, { key })
    await using restarted = await again.restart()
    const ask = await openBothWays(restarted)
    for (let n = 0; n < 6; n++) await ask(LOCATE, { key })
  })
})

describe('a service with other databases has the same answers both ways', () => {
  const { city, asn } = geoFiles()
  const databases = {
    'without privacy': { MERIDIAN_GEO: `${city},${asn}` },
    'without networks': { MERIDIAN_GEO: city },
  }
  for (const [name, env] of Object.entries(databases)) {
    it(name, async () => {
      await using other = await makeApp({ env })
      const ask = await openBothWays(other, { hasUsualGeo: false })
      const key = await other.makeKey()
      for (const paths of Object.values(LOOK_UPS)) {
        for (const path of paths) await ask(`/v1/ip/${path}`, { key })
      }
    })
  }

  it('while its databases of places fail', async () => {
    const find = () => assert.fail('broken')
    await using other = await makeApp({ replace: ({ geo }) => ({ geo: { ...geo, find } }) })
    const ask = await openBothWays(other, { hasUsualGeo: false })
    assert.equal((await ask(LOCATE, { key: await other.makeKey() })).status, 500)
  })

  it('while its database cannot be written', async () => {
    const key = await ada.key({ plan: 'fast' })
    app.setReadOnly(true)
    assert.equal((await lookUp(LOCATE, { key })).status, 200)
    app.setReadOnly(false)
  })
})
