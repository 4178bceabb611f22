import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { codeOf } from '../../support/helpers.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { signUp } from '../../support/sign-in.ts'
import { DAY, openShop, type Shop, SUBSCRIPTION } from '../shop.ts'

const LOCATE = '/v1/ip/81.2.69.160'
const KEYS = '/v1/account/me/keys'
const SITES = '/v1/account/me/sites'

const Located = v.object({ meta: v.object({ tier: v.string() }) })
const Created = v.object({ id: v.string(), rawKey: v.string() })
const Listed = v.array(v.object({ id: v.string(), expiresAt: v.nullable(v.string()) }))
const Usage = v.object({ monthlyCap: v.nullable(v.number()) })

async function addKey(shop: Shop) {
  const answer = await shop.send('POST', KEYS, { name: 'made' })
  return answer.status === 201 ? v.parse(Created, answer.body) : codeOf(answer)
}

async function addSite(shop: Shop, name: string) {
  const answer = await shop.send('POST', SITES, { name })
  return answer.status === 201 ? 'added' : codeOf(answer)
}

async function end(shop: Shop) {
  await shop.send('DELETE', SUBSCRIPTION)
  shop.pass(31 * DAY)
  await shop.settled()
}

describe('the plan in effect', () => {
  const shop = freshly(openShop)

  it('is the paid plan from the next request on: tier, rate and cap', async () => {
    const seen: unknown[] = []
    const look = async () => {
      const { body, headers } = await shop.send('GET', LOCATE)
      const { monthlyCap } = v.parse(Usage, (await shop.send('GET', '/v1/account/me/usage')).body)
      const policy = headers.get('ratelimit-policy')
      seen.push([v.parse(Located, body).meta.tier, policy, monthlyCap])
    }
    await look()
    await shop.buy('starter')
    await look()
    await shop.send('PUT', SUBSCRIPTION, { planId: 'pro' })
    await look()
    await end(shop)
    await look()
    assert.deepEqual(seen, [
      ['free', '"per-key";q=10;w=60', 5_000],
      ['starter', '"per-key";q=120;w=60', 25_000],
      ['pro', '"per-key";q=600;w=60', 100_000],
      ['free', '"per-key";q=10;w=60', 5_000],
    ])
  })

  it('applies to sessions as well', async () => {
    await using shop = await openShop()
    const token = await signUp(shop.app, 'eve@example.com')
    const headers = { authorization: `Bearer ${token}` }
    const send = (method: string, path: string, body?: unknown) =>
      shop.app.send(method, path, { headers, body })
    assert.equal((await send('POST', SUBSCRIPTION, { planId: 'pro' })).status, 200)
    const [session] = [...shop.double.world.state.tables.sessions.values()]
    shop.double.payCheckout(session?.id ?? '', { card: 'pm_card_visa' })
    await shop.settled()
    assert.equal(v.parse(Located, (await send('GET', LOCATE)).body).meta.tier, 'pro')
  })

  it('keeps keys and sites when it gets smaller, but adds none above its limit', async () => {
    await shop.buy('pro')
    const made: string[] = []
    for (let n = 0; n < 4; n++) {
      const key = await addKey(shop)
      assert.ok(typeof key === 'object')
      made.push(key.rawKey)
    }
    assert.equal(await addSite(shop, 'https://one.example'), 'added')
    assert.equal(await addSite(shop, 'https://two.example'), 'added')
    await end(shop)
    for (const key of made) {
      const answer = await shop.app.send('GET', LOCATE, { key })
      assert.equal(v.parse(Located, answer.body).meta.tier, 'free')
    }
    assert.equal(await addKey(shop), 'KEY_LIMIT_REACHED')
    assert.equal(await addSite(shop, 'https://three.example'), 'SITE_LIMIT_REACHED')
    const sites = await shop.send('GET', SITES)
    assert.equal(v.parse(v.array(v.unknown()), sites.body).length, 2)
    for (const origin of ['https://one.example', 'https://two.example']) {
      const beacon = { body: { metrics: { lcp: 100 } }, headers: { origin } }
      const answer = await shop.app.send('POST', '/v1/telemetry/rum', beacon)
      assert.equal(answer.status, 204)
    }
  })

  it('decides when keys expire: never on a paid plan, else a year after the fall to free', async () => {
    const expiries = async () => {
      const keys = v.parse(Listed, (await shop.send('GET', KEYS)).body)
      return keys.map(({ expiresAt }) => expiresAt)
    }
    assert.deepEqual(await expiries(), ['2027-01-15T12:00:00.000Z'])
    await shop.buy('starter')
    const key = await addKey(shop)
    assert.ok(typeof key === 'object')
    assert.deepEqual(await expiries(), [null, null])
    await shop.send('POST', `${KEYS}/${key.id}/renew`)
    assert.deepEqual(await expiries(), [null, null])
    await end(shop)
    const fell = '2027-02-15T12:00:00.000Z'
    assert.deepEqual(await expiries(), [fell, fell])
    shop.pass(DAY)
    await shop.send('POST', `${KEYS}/${key.id}/renew`)
    assert.deepEqual(await expiries(), [fell, '2027-02-16T12:00:00.000Z'])
  })

  it('lets an expired key work again from the first request after the purchase', async () => {
    const old = await shop.app.makeKey({ plan: 'free', expiresAt: shop.now() })
    const status = async () => (await shop.app.send('GET', LOCATE, { key: old })).status
    assert.equal(await status(), 401)
    await shop.buy('starter')
    assert.equal(await status(), 200)
  })
})
