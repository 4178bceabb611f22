import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { freshly } from '../../support/scene/freshly.ts'
import { auditOf, DAY, openShop, type Shop } from '../shop.ts'

/** Buys Pro. Returns its subscription and its paid invoice. */
async function buyPro(shop: Shop) {
  const { id } = await shop.buy('pro')
  const invoice = String(shop.atStripe(id).latest_invoice)
  const since = (await auditOf(shop)).length
  return { id, invoice, audited: async () => (await auditOf(shop)).slice(since) }
}

const ofStripe = (action: string, detail: string) => ({ app: 'stripe', action, detail })

describe('a refund', () => {
  it('is audited with its amount, and keeps the plan', async () => {
    await using shop = await openShop()
    const { invoice, audited } = await buyPro(shop)
    shop.double.refundInvoice(invoice, 900)
    await shop.settled()
    shop.double.refundInvoice(invoice)
    await shop.settled()
    assert.deepEqual(await audited(), [
      ofStripe('payment_refunded', '900 of 2900 usd'),
      ofStripe('payment_refunded', '2900 of 2900 usd'),
    ])
    assert.equal((await shop.row())?.status, 'active')
  })
})

describe('a dispute', () => {
  const shop = freshly(openShop)

  it('keeps the plan while it is open, and when it is won', async () => {
    const { id, invoice, audited } = await buyPro(shop)
    const dispute = shop.double.disputeInvoice(invoice)
    await shop.settled()
    assert.equal((await shop.row())?.status, 'active')
    shop.double.closeDispute(dispute.id, 'won')
    await shop.settled()
    assert.equal((await shop.row())?.status, 'active')
    assert.equal(shop.atStripe(id).status, 'active')
    assert.deepEqual(await audited(), [
      ofStripe('payment_disputed', 'needs_response: 2900 of 2900 usd'),
      ofStripe('dispute_closed', 'won: 2900 of 2900 usd'),
    ])
  })

  it('ends the plan at once and without credit when it is lost', async () => {
    const { id, invoice, audited } = await buyPro(shop)
    const { id: dispute } = shop.double.disputeInvoice(invoice)
    shop.double.closeDispute(dispute, 'lost')
    await shop.settled()
    assert.equal(await shop.row(), null)
    assert.equal(shop.atStripe(id).status, 'canceled')
    const customer = String(shop.atStripe(id).customer)
    assert.equal(shop.double.world.state.tables.customers.get(customer)?.balance, 0)
    const actions = (await audited()).map(({ action }) => action)
    assert.ok(actions.includes('subscription_ended'), actions.join())
  })

  it('ends only the subscription that its payment was for', async () => {
    const { id, invoice } = await buyPro(shop)
    await shop.stripe.subscriptions.cancel(id)
    await shop.settled()
    const { id: next } = await shop.buy('starter')
    const { id: dispute } = shop.double.disputeInvoice(invoice)
    shop.double.closeDispute(dispute, 'lost')
    await shop.settled()
    assert.equal((await shop.row())?.id, next)
  })

  it('may be reported twice, late and in any order', async () => {
    const { invoice, audited } = await buyPro(shop)
    shop.double.switchDeliveries('duplicate', 1)
    shop.double.switchDeliveries('reorder', 3)
    const { id: dispute } = shop.double.disputeInvoice(invoice)
    shop.double.closeDispute(dispute, 'lost')
    await shop.settled()
    assert.equal(await shop.row(), null)
    const closed = (await audited()).filter(({ action }) => action === 'dispute_closed')
    assert.equal(closed.length, 1)
  })

  it('takes effect by the reconciliation if its events are lost', async () => {
    const { invoice, audited } = await buyPro(shop)
    shop.double.switchDeliveries('drop', 1_000)
    const { id: dispute } = shop.double.disputeInvoice(invoice)
    shop.double.closeDispute(dispute, 'lost')
    shop.pass(29 * DAY)
    await shop.app.services.reconciliation.run()
    assert.equal(await shop.row(), null)
    await shop.app.services.reconciliation.run()
    const of = async (wanted: string) =>
      (await audited()).filter(({ action }) => action === wanted).length
    assert.deepEqual([await of('payment_disputed'), await of('dispute_closed')], [1, 1])
  })

  it('is not looked for if the key may not list events', async () => {
    await buyPro(shop)
    const { reconciliation } = shop.app.services
    await reconciliation.run()
    shop.double.failCalls({ kind: 'slow', delayMs: 0 })
    shop.double.failCalls({ kind: '403' })
    shop.pass(60)
    await reconciliation.run()
    assert.equal(reconciliation.last().succeededAt, shop.now())
  })

  it('of another customer of the account is ignored', async () => {
    const { audited } = await buyPro(shop)
    const customer = (await shop.stripe.customers.create()).id
    const method = await shop.stripe.paymentMethods.attach('pm_card_visa', { customer })
    const { latest_invoice } = await shop.stripe.subscriptions.create({
      customer,
      items: [{ price: shop.prices.starter }],
      default_payment_method: method.id,
    })
    shop.double.disputeInvoice(String(latest_invoice))
    await shop.settled()
    await shop.app.services.reconciliation.run()
    assert.deepEqual(await audited(), [])
  })
})
