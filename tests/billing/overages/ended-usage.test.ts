import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { freshly } from '../../support/scene/freshly.ts'
import { DAY, type Shop, SUBSCRIPTION } from '../shop.ts'
import { COST, deleteAccount, invoicesOf, openWithUsage, UNITS } from './with-usage.ts'

const lastInvoice = (shop: Shop) => invoicesOf(shop).at(-1)

/*
 * "`invoice_now`: Will generate a final invoice that invoices for any un-invoiced metered usage … Defaults to
 * `false`": SubscriptionCancelParams of the SDK. "All metered usage gets discarded":
 * https://docs.stripe.com/billing/subscriptions/cancel
 */
describe('the overages of a subscription that ends', () => {
  const shop = freshly(() => openWithUsage())

  it('are charged when its account is deleted, also those that Stripe has not yet added up', async () => {
    const answer = await deleteAccount(shop)
    assert.equal(answer.status, 200, answer.text)
    assert.equal(shop.atStripe(shop.id).status, 'canceled')
    shop.pass(3_600)
    assert.deepEqual(lastInvoice(shop), ['paid', COST, [UNITS]])
  })

  /* The draft has the requests over the cap of the period that has ended, and the fee of the next one. */
  it('are charged without the next period if its account is deleted while the renewal is a draft', async () => {
    await shop.app.services.overages.reportAll(shop.userId)
    shop.pass(31 * DAY + 1_800)
    await shop.settled()
    await deleteAccount(shop)
    shop.pass(3_600)
    assert.deepEqual(invoicesOf(shop)[1], ['paid', COST, [UNITS]])
  })

  it('are charged at the end of the period after a cancellation, with the last units', async () => {
    await shop.send('DELETE', SUBSCRIPTION)
    shop.pass(31 * DAY)
    await shop.settled()
    assert.equal(await shop.row(), null)
    shop.pass(3_600)
    assert.deepEqual(lastInvoice(shop), ['paid', COST, [UNITS]])
  })

  it('are charged if the event of the end is lost', async () => {
    await shop.send('DELETE', SUBSCRIPTION)
    await shop.app.services.overages.reportAll(shop.userId)
    shop.double.switchDeliveries('drop', 1_000)
    shop.pass(31 * DAY)
    await shop.app.services.reconciliation.run()
    shop.pass(3_600)
    assert.deepEqual(lastInvoice(shop), ['paid', COST, [UNITS]])
  })
})
