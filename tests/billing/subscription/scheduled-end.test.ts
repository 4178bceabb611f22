import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { PlanChangeResponse } from '../../../lib/contract/billing/billing-schemas.ts'
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

describe('a year whose payment the bank wants confirmed', () => {
  const shop = freshly(async () => {
    const opened = await openShop({ sellsYearly: true })
    const { id } = await opened.buy('pro')
    const customer = String(opened.atStripe(id).customer)
    const asks = await opened.stripe.paymentMethods.attach('pm_card_authenticationRequired', {
      customer,
    })
    await opened.stripe.subscriptions.update(id, { default_payment_method: asks.id })
    const { body } = await opened.send('PUT', SUBSCRIPTION, year)
    const { confirmation } = v.parse(PlanChangeResponse, body)
    assert.ok(confirmation)
    await opened.settled()
    return { ...opened, id, page: confirmation.url }
  })
  const year = { planId: 'pro', interval: 'year' }

  const cancellations = {
    here: ({ send }: Shop) => send('DELETE', SUBSCRIPTION),
    'in the portal': ({ stripe }: Shop) =>
      stripe.subscriptions.update(shop.id, { cancel_at: 'min_period_end' }),
  }

  for (const [where, cancel] of Object.entries(cancellations)) {
    it(`is discarded by a cancellation ${where}, so that its page charges nothing`, async () => {
      await cancel(shop)
      await shop.settled()
      const answer = new URLSearchParams({ authentication: 'confirmed' })
      await fetch(shop.page, { method: 'POST', body: answer, redirect: 'manual' })
      await shop.settled()
      assert.deepEqual(paid(shop), [2_900, 0])
      const row = await shop.row()
      assert.deepEqual([row?.interval, row?.pendingPrice, row?.lapsedPrice], ['month', null, null])
    })
  }

  it('is discarded later if Stripe does not answer at first', async () => {
    // The first reads the customer, the second the pending change.
    shop.double.failCalls({ kind: 'slow', delayMs: 0, method: 'GET' })
    shop.double.failCalls({ kind: '500', method: 'GET' })
    await shop.stripe.subscriptions.update(shop.id, { cancel_at: 'min_period_end' })
    await shop.settled()
    const row = await shop.row()
    assert.deepEqual([row?.pendingPrice, row?.lapsedPrice], [null, null])
    assert.equal(shop.atStripe(shop.id).pending_update, null)
  })

  it('is not offered again after a cancellation in the portal', async () => {
    await shop.stripe.subscriptions.update(shop.id, { cancel_at_period_end: true })
    await shop.settled()
    const preview = await shop.send('GET', `${SUBSCRIPTION}/preview?planId=pro&interval=year`)
    for (const answer of [preview, await shop.send('PUT', SUBSCRIPTION, year)]) {
      assert.equal(codeOf(answer), 'BAD_REQUEST', answer.text)
      assert.match(answer.text, /reactivate it before/)
    }
    await shop.send('POST', `${SUBSCRIPTION}/reactivate`)
    const offered = await shop.send('PUT', SUBSCRIPTION, year)
    assert.match(offered.text, /"confirmation":\{/)
  })
})
