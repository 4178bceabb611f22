import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { apiKeys } from '../../lib/db/tables.ts'
import { codeOf, makeApp } from '../support/helpers.ts'
import { plansFileOf } from '../support/plans-file.ts'
import { freshScene } from '../support/scene/scene.ts'
import { many, statuses } from './answers.ts'

const wide = { id: 'wide', name: 'Wide', price: 1, monthlyCap: 1, requestsPerMinute: 1 }
const plans = plansFileOf([{ ...wide, maxKeys: 100, maxSites: 100 }])
const app = freshScene({ env: { MERIDIAN_PLANS: plans } })
const ada = app.user('ada')
const kim = app.user('kim')

describe('new keys and sites of a user', () => {
  const site = () => `https://${crypto.randomUUID()}.example`
  const kinds = [
    { kind: 'keys', policy: 'new-keys', removed: 200, name: () => 'made' },
    { kind: 'sites', policy: 'new-sites', removed: 204, name: site },
  ]
  for (const { kind, policy, removed, name } of kinds) {
    const path = `/v1/account/me/${kind}`

    it(`are at most 30 ${kind} at once, then one more every two minutes`, async () => {
      const session = await ada.signUp()
      await ada.key({ plan: 'wide' })
      const ways = [ada, session].map((by) => () => by.send('POST', path, { name: name() }))
      for (const add of ways) assert.deepEqual(await statuses(15, add), many(201, 15))
      for (const add of ways) {
        const refused = await add()
        assert.equal(codeOf(refused), 'RATE_LIMITED')
        assert.equal(refused.headers.get('ratelimit-policy'), `"${policy}";q=30;w=3600`)
        assert.equal(refused.headers.get('ratelimit'), `"${policy}";r=0;t=120`)
        assert.equal(refused.headers.get('retry-after'), '120')
      }
      await kim.key({ plan: 'wide' })
      assert.equal((await kim.send('POST', path, { name: name() })).status, 201)
      app.pass(120_000)
      for (const add of ways.slice(0, 1)) assert.deepEqual(await statuses(2, add), [201, 429])
    })

    it(`include removed ${kind}, but not refused ones`, async () => {
      await ada.key({ plan: 'wide' })
      const add = (body: object) => ada.send('POST', path, body)
      assert.deepEqual(await statuses(35, () => add({ name: '' })), many(400, 35))
      const addAndRemove = async () => {
        const added = await add({ name: name() })
        if (added.status !== 201) return added
        const { id } = v.parse(v.object({ id: v.string() }), added.body)
        return ada.send('DELETE', `${path}/${id}`)
      }
      assert.deepEqual(await statuses(31, addAndRemove), [...many(removed, 30), 429])
    })

    it(`have the same limit of ${kind} in the dashboard`, async () => {
      await ada.enter()
      await ada.key({ plan: 'wide' })
      const add = () => ada.send('POST', path, { name: name() })
      assert.deepEqual(await statuses(30, add), many(201, 30))
      const page = await ada.submit(`/app/${kind}`, { name: name() })
      assert.equal(page.status, 429)
      assert.match(page.html, /role="alert">Too many requests; try again in 120 s/)
    })
  }

  it('include renewed keys, but not attempts to renew unknown ones', async () => {
    await ada.key({ plan: 'wide' })
    const [own] = await app.services.db.select({ id: apiKeys.id }).from(apiKeys).all()
    const renew = (id: string) => ada.send('POST', `/v1/account/me/keys/${id}/renew`)
    assert.deepEqual(await statuses(31, () => renew('0'.repeat(32))), many(404, 31))
    assert.deepEqual(await statuses(30, () => renew(String(own?.id))), many(200, 30))
    const refused = await ada.send('POST', '/v1/account/me/keys', { name: 'made' })
    assert.equal(refused.headers.get('ratelimit-policy'), '"new-keys";q=30;w=3600')
    assert.equal((await renew(String(own?.id))).status, 429)
  })

  it('do not count while the plan is full', async () => {
    await using usual = await makeApp()
    const eve = usual.user('eve')
    await eve.key({ plan: 'free' })
    const add = () => eve.send('POST', '/v1/account/me/sites', { name: site() })
    assert.deepEqual(await statuses(40, add), [201, ...many(403, 39)])
  })
})
