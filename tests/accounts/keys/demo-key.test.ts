import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { listKeys } from '../../../lib/access/keys.ts'
import { insertUser, newUser } from '../../../lib/accounts/users.ts'
import { DEMO_PLAN } from '../../../lib/config/plans.ts'
import { readRows } from '../../support/database/sql.ts'
import { codeOf, makeApp, NOON, type TestApp } from '../../support/helpers.ts'
import { freshScene } from '../../support/scene/scene.ts'

const BASE = 'https://geo.example'
const PATH = '/v1/ip/81.2.69.160'
const FROM_PAGE = { 'sec-fetch-site': 'same-origin' }

let key: string
const app = freshScene({ env: { MERIDIAN_BASE_URL: BASE } }, async () => {
  key = await demoKey(app)
})

const locate = (headers: Record<string, string>) => app.send('GET', PATH, { key, headers })

async function demoKey({ services }: TestApp): Promise<string> {
  return (await services.openDemo()) ?? assert.fail()
}

describe('the demo key', () => {
  it('serves look-ups of pages of this instance, with or without an Origin header', async () => {
    for (const headers of [FROM_PAGE, { origin: BASE }]) {
      const { status, body } = await locate(headers)
      assert.equal(status, 200)
      assert.partialDeepStrictEqual(body, { meta: { tier: 'demo' } })
    }
  })

  it('is refused from all other origins', async () => {
    const others: Record<string, string>[] = [
      {},
      ...['https://other.example', 'null', 'http://geo.example'].map((origin) => ({ origin })),
      ...['same-site', 'cross-site', 'none'].map((site) => ({ 'sec-fetch-site': site })),
      { 'sec-fetch-site': 'same-origin', origin: 'https://other.example' },
    ]
    for (const headers of others) {
      const answer = await locate(headers)
      assert.equal(answer.status, 403, JSON.stringify(headers))
      assert.equal(codeOf(answer), 'ORIGIN_NOT_ALLOWED')
    }
  })

  it('allows nothing but look-ups', async () => {
    for (const path of ['/v1/account/me', '/v1/account/me/keys', '/v1/account/me/usage']) {
      const answer = await app.send('GET', path, { key, headers: FROM_PAGE })
      assert.equal(codeOf(answer), 'INSUFFICIENT_SCOPE', path)
    }
  })

  it('is limited, and counted against a cap', async () => {
    const { requestsPerMinute } = DEMO_PLAN
    for (let n = 0; n < requestsPerMinute; n++) assert.equal((await locate(FROM_PAGE)).status, 200)
    assert.equal((await locate(FROM_PAGE)).status, 429)
    const demo = { userId: 'demo', paid: null }
    assert.equal(app.services.meters.periodRequests(demo, NOON), requestsPerMinute)
  })

  it('is the same after a restart, and different in another instance', async () => {
    await app.restart()
    assert.equal(await demoKey(app), key)
    assert.equal((await listKeys(app.services.db, 'demo')).length, 1)
    await using other = await makeApp({ env: { MERIDIAN_BASE_URL: BASE } })
    assert.notEqual(await demoKey(other), key)
  })

  it('is not stored as text', async () => {
    for (const table of ['users', 'api_keys', 'audit_log']) {
      const rows = JSON.stringify(await readRows(app, `SELECT * FROM ${table}`))
      assert.ok(rows.includes('demo'), table)
      assert.equal(rows.includes(key.slice(16)), false, table)
    }
  })

  it('follows the base URL', async () => {
    await app.restart({ MERIDIAN_BASE_URL: 'https://new.example/geo' })
    key = await demoKey(app)
    const [row, ...more] = await listKeys(app.services.db, 'demo')
    assert.deepEqual([row?.allowedOrigins, more], [['https://new.example'], []])
    assert.equal((await locate({ origin: 'https://new.example' })).status, 200)
    assert.equal((await locate({ origin: BASE })).status, 403)
  })

  it('is revoked once the demo is turned off', async () => {
    await app.restart({ MERIDIAN_DEMO: '0' })
    assert.equal(await app.services.openDemo(), null)
    assert.deepEqual(await listKeys(app.services.db, 'demo'), [])
    assert.equal((await locate(FROM_PAGE)).status, 401)
  })

  it('is not created if pages could be modified in transit', async () => {
    await using app = await makeApp({ env: { MERIDIAN_BASE_URL: 'http://geo.example' } })
    assert.equal(await app.services.openDemo(), null)
    assert.deepEqual(await listKeys(app.services.db, 'demo'), [])
  })

  it('belongs to a plan that is neither listed nor available', async () => {
    const { body } = await app.send('GET', '/v1/billing/plans')
    assert.doesNotMatch(JSON.stringify(body), /demo/i)
    assert.equal(app.services.plans.find('demo'), undefined)
    assert.equal(app.services.plans.ofUser('demo'), DEMO_PLAN)
  })

  it('does not touch the keys of a remote user who has the id of the demo user', async () => {
    const app = await makeApp({ env: { MERIDIAN_DEMO: '0' } })
    const user = { ...newUser({ email: 'ada@example.com', plan: 'free', now: NOON }), id: 'demo' }
    await insertUser(app.services.db, user).run()
    const key = await app.makeKey({ plan: 'free' })
    await using on = await app.restart({ MERIDIAN_DEMO: '1' })
    assert.equal(await on.services.openDemo(), null)
    assert.equal((await on.send('GET', PATH, { key })).status, 200)
  })

  it('belongs to a user who cannot sign in', async () => {
    const sent = { email: 'demo', password: 'a long enough one', name: 'Demo' }
    for (const path of ['sign-up', 'sign-in']) {
      const request = new Request(`http://127.0.0.1:8787/api/auth/${path}/email`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(sent),
      })
      assert.equal((await app.app.fetch(request, { remoteAddress: '198.51.100.8' })).status, 400)
    }
  })
})
