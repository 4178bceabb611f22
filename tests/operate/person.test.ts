import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { write } from '../support/database/sql.ts'
import { NOON } from '../support/helpers.ts'
import { freshScene } from '../support/scene/scene.ts'
import { personPath } from './operator.ts'

const app = freshScene()
const ada = app.user('ada')
const olga = app.operator('olga')

describe('the page about a person', () => {
  it('shows the account with its keys, sites, usage and audit rows', async () => {
    await ada.submit('/app/sites', { name: 'https://shop.example' })
    const key = await ada.key({ plan: 'free' })
    await ada.lookUp()
    const { status, html } = await olga.visit(await personPath(ada))
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
    await ada.key({ plan: 'free' })
    const { id } = await ada.row()
    await write(
      app,
      `
      INSERT INTO billing_customers (user_id, customer_id, created_at) VALUES ('${id}', 'cus_1', 0);
      INSERT INTO subscriptions (user_id, id, item_id, plan, status, period_start, period_end, overages)
      VALUES ('${id}', 'sub_1', 'si_1', 'starter', 'past_due', ${NOON - 1}, ${NOON + 1}, 0)`,
    )
    const { html } = await olga.visit(await personPath(ada))
    assert.match(html, /Starter \(Stripe, past due\)/)
    assert.match(html, /<dt>Assigned plan<\/dt><dd>free/)
  })

  it('offers nothing against oneself', async () => {
    const { html } = await olga.visit(await personPath(olga))
    assert.match(html, /Sign out everywhere…/)
    assert.doesNotMatch(html, /Disable…|Delete…|operator…/)
  })

  it('does not exist for unknown ids', async () => {
    for (const id of ['nobody', '%00', "'", 'x'.repeat(2_000)]) {
      for (const path of ['', '/disable', '/plan?to=pro']) {
        const page = await olga.visit(`/app/operate/people/${id}${path}`)
        assert.equal(page.status, 404, id)
      }
      const posted = await olga.submit(`/app/operate/people/${id}/disable`)
      assert.equal(posted.status, 404, id)
    }
  })
})
