import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { write } from '../support/database/sql.ts'
import { makeApp, NOON } from '../support/helpers.ts'
import { signInNewUser, visitPage } from '../support/scene/pages.ts'
import { OPERATOR, PERSON, personPath, signInOperator } from './operator.ts'

describe('the page about a person', () => {
  it('shows the account with its keys, sites, usage and audit rows', async () => {
    await using app = await makeApp()
    const [cookie, ada] = [await signInOperator(app), await signInNewUser(app, PERSON)]
    const key = await app.makeKey({ email: PERSON, plan: 'free' })
    await visitPage(app, '/app/sites', { cookie: ada, form: { name: 'https://shop.example' } })
    await app.send('GET', '/v1/ip/81.2.69.160', { key })
    const { status, html } = await visitPage(app, await personPath(app), { cookie })
    assert.equal(status, 200)
    assert.match(html, /<h1>ada@example\.com<\/h1>/)
    assert.match(html, /Free \(assigned\)/)
    assert.match(html, /1 of 5,000/)
    assert.ok(html.includes(key.slice(0, 16)))
    assert.ok(!html.includes(key))
    assert.match(html, /2026-01-15 12:00/, 'the last use of the key')
    assert.match(html, /https:\/\/shop\.example/)
    assert.match(html, /Site added/)
  })

  it('says that the plan comes from Stripe', async () => {
    await using app = await makeApp()
    const cookie = await signInOperator(app)
    await app.makeKey({ email: PERSON, plan: 'free' })
    const path = await personPath(app)
    const id = path.split('/').at(-1)
    await write(
      app,
      `
      INSERT INTO billing_customers (user_id, customer_id, created_at) VALUES ('${id}', 'cus_1', 0);
      INSERT INTO subscriptions (user_id, id, item_id, plan, status, period_start, period_end, overages)
      VALUES ('${id}', 'sub_1', 'si_1', 'starter', 'past_due', ${NOON - 1}, ${NOON + 1}, 0)`,
    )
    const { html } = await visitPage(app, path, { cookie })
    assert.match(html, /Starter \(Stripe, past due\)/)
    assert.match(html, /<dt>Assigned plan<\/dt><dd>free/)
  })

  it('offers nothing against oneself', async () => {
    await using app = await makeApp()
    const cookie = await signInOperator(app)
    const { html } = await visitPage(app, await personPath(app, OPERATOR), { cookie })
    assert.match(html, /Sign out everywhere…/)
    assert.doesNotMatch(html, /Disable…|Delete…|operator…/)
  })

  it('does not exist for unknown ids', async () => {
    await using app = await makeApp()
    const cookie = await signInOperator(app)
    for (const id of ['nobody', '%00', "'", 'x'.repeat(2_000)]) {
      for (const path of ['', '/disable', '/plan?to=pro']) {
        const page = await visitPage(app, `/app/operate/people/${id}${path}`, { cookie })
        assert.equal(page.status, 404, id)
      }
      const posted = await visitPage(app, `/app/operate/people/${id}/disable`, { cookie, form: {} })
      assert.equal(posted.status, 404, id)
    }
  })
})
