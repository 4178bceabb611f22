import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { apiKeys } from '../../lib/db/tables.ts'
import { codeOf, makeApp, NOON } from '../support/helpers.ts'
import { signInNewUser, visitPage } from '../support/scene/pages.ts'
import { signUp } from '../support/sign-in.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { many, statuses } from './answers.ts'

const EMAIL = 'ada@example.com'

describe('new keys and sites of a user', () => {
  const plans = join(tempFolder(), 'plans.json')
  const wide = { id: 'free', name: 'Free', price: 0, maxKeys: 100, maxSites: 100 }
  writeFileSync(plans, JSON.stringify([{ ...wide, monthlyCap: 1, requestsPerMinute: 1 }]))
  const open = (now = () => NOON) => makeApp({ now, env: { MERIDIAN_PLANS: plans } })
  const site = () => `https://${crypto.randomUUID()}.example`
  const kinds = [
    { kind: 'keys', policy: 'new-keys', removed: 200, name: () => 'made' },
    { kind: 'sites', policy: 'new-sites', removed: 204, name: site },
  ]
  for (const { kind, policy, removed, name } of kinds) {
    const path = `/v1/account/me/${kind}`

    it(`are at most 30 ${kind} at once, then one more every two minutes`, async () => {
      let now = NOON
      await using app = await open(() => now)
      const headers = { authorization: `Bearer ${await signUp(app)}` }
      const key = await app.makeKey({ email: EMAIL })
      const add = (by: object) => app.send('POST', path, { ...by, body: { name: name() } })
      assert.deepEqual(await statuses(15, () => add({ key })), many(201, 15))
      assert.deepEqual(await statuses(15, () => add({ headers })), many(201, 15))
      for (const by of [{ key }, { headers }]) {
        const refused = await add(by)
        assert.equal(codeOf(refused), 'RATE_LIMITED')
        assert.equal(refused.headers.get('ratelimit-policy'), `"${policy}";q=30;w=3600`)
        assert.equal(refused.headers.get('ratelimit'), `"${policy}";r=0;t=120`)
        assert.equal(refused.headers.get('retry-after'), '120')
      }
      const stranger = await app.makeKey({ email: 'kim@example.com' })
      assert.equal((await add({ key: stranger })).status, 201)
      now += 120_000
      assert.deepEqual(await statuses(2, () => add({ key })), [201, 429])
    })

    it(`include removed ${kind}, but not refused ones`, async () => {
      await using app = await open()
      const key = await app.makeKey({ email: EMAIL })
      const add = (body: object) => app.send('POST', path, { key, body })
      assert.deepEqual(await statuses(35, () => add({ name: '' })), many(400, 35))
      const addAndRemove = async () => {
        const added = await add({ name: name() })
        if (added.status !== 201) return added
        const { id } = v.parse(v.object({ id: v.string() }), added.body)
        return app.send('DELETE', `${path}/${id}`, { key })
      }
      assert.deepEqual(await statuses(31, addAndRemove), [...many(removed, 30), 429])
    })

    it(`have the same limit of ${kind} in the dashboard`, async () => {
      await using app = await open()
      const cookie = await signInNewUser(app, EMAIL)
      const key = await app.makeKey({ email: EMAIL })
      const add = () => app.send('POST', path, { key, body: { name: name() } })
      assert.deepEqual(await statuses(30, add), many(201, 30))
      const page = await visitPage(app, `/app/${kind}`, { cookie, form: { name: name() } })
      assert.equal(page.status, 429)
      assert.match(page.html, /role="alert">Too many requests; try again in 120 s/)
    })
  }

  it('include renewed keys, but not attempts to renew unknown ones', async () => {
    await using app = await open()
    const key = await app.makeKey({ email: EMAIL })
    const [own] = await app.services.db.select({ id: apiKeys.id }).from(apiKeys).all()
    const renew = (id: string) => app.send('POST', `/v1/account/me/keys/${id}/renew`, { key })
    assert.deepEqual(await statuses(31, () => renew('0'.repeat(32))), many(404, 31))
    assert.deepEqual(await statuses(30, () => renew(String(own?.id))), many(200, 30))
    const refused = await app.send('POST', '/v1/account/me/keys', { key, body: { name: 'made' } })
    assert.equal(refused.headers.get('ratelimit-policy'), '"new-keys";q=30;w=3600')
    assert.equal((await renew(String(own?.id))).status, 429)
  })

  it('do not count while the plan is full', async () => {
    await using app = await makeApp()
    const key = await app.makeKey({ email: EMAIL, plan: 'free' })
    const add = () => app.send('POST', '/v1/account/me/sites', { key, body: { name: site() } })
    assert.deepEqual(await statuses(40, add), [201, ...many(403, 39)])
  })
})
