import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { codeOf } from '../../support/helpers.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { DAY, openShop, type Shop, SUBSCRIPTION } from '../shop.ts'

const paid = ({ double }: Shop) =>
  [...double.world.state.tables.invoices.values()].map(({ amount_paid }) => amount_paid)

/*
 * "When an item's `current_period_end` changes, the cancellation date isn't updated":
 * https://docs.stripe.com/billing/subscriptions/billing-mode/compare, "Cancellations in the Customer Portal"
 */
describe('a year, while the subscription is scheduled to end', () => {
  const shop = freshly(() => openShop({ sellsYearly: true }))
  const year = { planId: 'pro', interval: 'year' }

  for (const [where, params] of [
    ['here', null],
    ['in the portal', { cancel_at: 'min_period_end' }],
  ] as const) {
    it(`cannot be bought after a cancellation ${where}, but after a reactivation`, async () => {
      const { id } = await shop.buy('pro')
      shop.pass(10 * DAY)
      if (params === null) await shop.send('DELETE', SUBSCRIPTION)
      else await shop.stripe.subscriptions.update(id, params)
      await shop.settled()
      const preview = await shop.send('GET', `${SUBSCRIPTION}/preview?planId=pro&interval=year`)
      const change = await shop.send('PUT', SUBSCRIPTION, year)
      for (const answer of [preview, change]) {
        assert.equal(codeOf(answer), 'BAD_REQUEST')
        assert.match(answer.text, /reactivate it before/)
      }
      assert.deepEqual(paid(shop), [2_900])
      const reactivated = await shop.send('POST', `${SUBSCRIPTION}/reactivate`)
      assert.deepEqual(reactivated.body, { status: 'active' })
      assert.equal((await shop.send('PUT', SUBSCRIPTION, year)).status, 200)
      assert.equal((await shop.row())?.interval, 'year')
    })
  }

  it('is shown with the end that the operator chose', async () => {
    const { id } = await shop.buy('pro')
    const at = shop.double.now() + 12 * DAY
    await shop.stripe.subscriptions.update(id, { cancel_at: at })
    await shop.settled()
    const { text } = await shop.send('GET', SUBSCRIPTION)
    const end = new Date(at * 1000).toISOString()
    assert.match(text, new RegExp(`"status":"canceling".*"currentPeriodEnd":"${end}"`))
  })
})

describe('an end that the operator scheduled within the period', () => {
  it('refuses plan changes, which would charge for the whole period', async () => {
    await using shop = await openShop()
    const { id } = await shop.buy('starter')
    await shop.stripe.subscriptions.update(id, { cancel_at: shop.double.now() + 5 * DAY })
    await shop.settled()
    const before = paid(shop)
    const preview = await shop.send('GET', `${SUBSCRIPTION}/preview?planId=pro`)
    for (const answer of [preview, await shop.send('PUT', SUBSCRIPTION, { planId: 'pro' })]) {
      assert.equal(codeOf(answer), 'BAD_REQUEST')
      assert.match(answer.text, /reactivate it before/)
    }
    assert.deepEqual(paid(shop), before)
    assert.equal((await shop.send('POST', `${SUBSCRIPTION}/reactivate`)).status, 200)
    assert.equal((await shop.send('PUT', SUBSCRIPTION, { planId: 'pro' })).status, 200)
  })
})

describe('an end that the operator scheduled for a later period', () => {
  it('is shown besides the next renewal', async () => {
    await using shop = await openShop()
    const { id, periodEnd } = await shop.buy('pro')
    const at = shop.double.now() + 100 * DAY
    await shop.stripe.subscriptions.update(id, { cancel_at: at })
    await shop.settled()
    const { text } = await shop.send('GET', SUBSCRIPTION)
    const renewal = new Date(periodEnd).toISOString()
    assert.match(text, new RegExp(`"status":"canceling".*"currentPeriodEnd":"${renewal}"`))
    const end = new Date(at * 1000).toISOString()
    const terms = await shop.send('GET', `${SUBSCRIPTION}/terms`)
    assert.match(terms.text, new RegExp(`"cancelAt":"${end}"`))
  })
})
