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

  it('are charged when its account is deleted', async () => {
    const answer = await deleteAccount(shop)
    assert.equal(answer.status, 200, answer.text)
    assert.equal(shop.atStripe(shop.id).status, 'canceled')
    assert.deepEqual(lastInvoice(shop), ['paid', COST, [UNITS]])
  })

  it('are charged when its account is deleted while the renewal is a draft', async () => {
    await shop.app.services.overages.reportAll(shop.userId)
    shop.pass(31 * DAY + 1_800)
    await shop.settled()
    await deleteAccount(shop)
    assert.deepEqual(invoicesOf(shop)[1], ['paid', 2_900 + COST, [UNITS, 1]])
  })

  it('are charged at the end of the period after a cancellation', async () => {
    await shop.send('DELETE', SUBSCRIPTION)
    shop.pass(31 * DAY)
    await shop.settled()
    assert.equal(await shop.row(), null)
    assert.deepEqual(lastInvoice(shop), ['paid', COST, [UNITS]])
  })

  it('are charged if the event of the end is lost', async () => {
    await shop.send('DELETE', SUBSCRIPTION)
    await shop.app.services.overages.reportAll(shop.userId)
    shop.double.switchDeliveries('drop', 1_000)
    shop.pass(31 * DAY)
    for (let runs = 0; runs < 2; runs += 1) await shop.app.services.reconciliation.run()
    assert.deepEqual(lastInvoice(shop), ['paid', COST, [UNITS]])
  })
})
