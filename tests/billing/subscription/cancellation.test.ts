import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { auditOf, DAY, openShop, SUBSCRIPTION } from '../shop.ts'

const REACTIVATE = `${SUBSCRIPTION}/reactivate`
const END = '2026-02-15T12:00:00.000Z'

describe('a cancellation', () => {
  it('takes effect at the end of the period; until then the plan stays in effect', async () => {
    await using shop = await openShop()
    await shop.buy('pro')
    const canceling = { status: 'canceling', cancelAt: END }
    assert.deepEqual((await shop.send('DELETE', SUBSCRIPTION)).body, canceling)
    shop.newCalls()
    assert.deepEqual((await shop.send('DELETE', SUBSCRIPTION)).body, canceling)
    assert.equal(
      shop.newCalls().some((call) => call.startsWith('POST')),
      false,
    )
    assert.match((await shop.send('GET', SUBSCRIPTION)).text, /"status":"canceling"/)
    shop.pass(31 * DAY - 1)
    await shop.settled()
    assert.match((await shop.send('GET', SUBSCRIPTION)).text, /^\{"plan":\{"id":"pro"/)
    shop.pass(1)
    await shop.settled()
    const { text } = await shop.send('GET', SUBSCRIPTION)
    assert.match(text, /^\{"plan":\{"id":"free".*"subscription":null\}$/)
    assert.deepEqual(
      (await auditOf(shop)).slice(2).map(({ app, action, detail }) => [app, action, detail]),
      [
        ['api', 'cancel_subscription', 'pro'],
        ['stripe', 'subscription_ended', 'pro canceling to none'],
      ],
    )
  })

  it('can be taken back, whether it was made here or in the customer portal', async () => {
    await using shop = await openShop()
    const { id, periodEnd } = await shop.buy('pro')
    const marks = [{ cancel_at_period_end: true }, { cancel_at: periodEnd / 1000 }]
    for (const mark of marks) {
      await shop.stripe.subscriptions.update(id, mark)
      await shop.settled()
      assert.equal((await shop.row())?.cancelAt, periodEnd)
      assert.deepEqual((await shop.send('POST', REACTIVATE)).body, { status: 'active' })
      assert.equal(shop.atStripe(id).cancel_at, null)
      assert.equal((await shop.row())?.cancelAt, null)
    }
    shop.newCalls()
    assert.deepEqual((await shop.send('POST', REACTIVATE)).body, { status: 'active' })
    assert.equal(
      shop.newCalls().some((call) => call.startsWith('POST')),
      false,
    )
    for (const status of ['past_due', 'trialing'] as const) {
      const { subscriptions } = shop.double.world.state.tables
      subscriptions.set(id, { ...shop.atStripe(id), status, cancel_at_period_end: true })
      assert.deepEqual((await shop.send('POST', REACTIVATE)).body, { status: 'active' })
    }
    const taken = (await auditOf(shop)).filter(({ action }) => action === 'reactivate_subscription')
    assert.equal(taken.length, 4)
  })
})
