import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { write } from '../../support/database/sql.ts'
import { codeOf, recordingLog } from '../../support/helpers.ts'
import { DAY, methodOf, openShop, type Shop, SUBSCRIPTION } from '../shop.ts'

/** Buys Starter and, ten days later, Pro on a page that Meridian did not open. */
async function payTwice(shop: Shop) {
  const { id: starter } = await shop.buy('starter')
  shop.pass(10 * DAY)
  const { customer } = shop.atStripe(starter)
  const { id: pro } = await shop.stripe.subscriptions.create({
    customer: String(customer),
    default_payment_method: methodOf(shop, starter),
    items: [{ price: shop.prices.pro }],
  })
  await shop.settled()
  return { customer: String(customer), starter, pro }
}

describe('two subscriptions of one customer', () => {
  it('give the plan of the newest, and are logged for the operator', async () => {
    const log = recordingLog()
    await using shop = await openShop({ log })
    const { customer, starter, pro } = await payTwice(shop)
    assert.equal((await shop.row())?.id, pro)
    await shop.app.services.reconciliation.run()
    const [found, ...more] = log.events.filter(({ message }) => /second subscription/.test(message))
    const detail = `pays for ${starter} besides ${pro}`
    assert.deepEqual(
      [found?.level, found?.fields],
      ['warn', { kind: 'duplicate', count: 1, first: [{ user: shop.userId, customer, detail }] }],
    )
    assert.deepEqual(more, [])
  })

  it('have no overages, which both would charge', async () => {
    await using shop = await openShop()
    await payTwice(shop)
    await shop.app.services.overages.refreshPrice()
    const refused = await shop.send('PATCH', SUBSCRIPTION, { overagesEnabled: true })
    assert.equal(codeOf(refused), 'BAD_REQUEST')
    assert.match(refused.text, /You pay for two subscriptions/)
    assert.equal((await shop.row())?.overages, false)
  })

  it('become one when the operator or the customer ends the other at Stripe', async () => {
    await using shop = await openShop()
    const { starter, pro } = await payTwice(shop)
    await shop.stripe.subscriptions.cancel(pro)
    await shop.settled()
    assert.equal((await shop.row())?.id, starter)
  })

  it('keep an open invoice of the one whose price is unknown here', async () => {
    await using shop = await openShop()
    const { id } = await shop.buy('starter')
    const customer = String(shop.atStripe(id).customer)
    const method = await shop.stripe.paymentMethods.attach('pm_card_chargeCustomerFail', {
      customer,
    })
    await shop.stripe.subscriptions.update(id, { default_payment_method: method.id })
    shop.pass(31 * DAY + 3_600)
    await shop.settled()
    const { subscriptions, invoices } = shop.double.world.state.tables
    const row = shop.atStripe(id)
    const [item] = row.items.data
    assert.ok(item)
    const unknown = { ...item, price: { ...item.price, id: 'price_unknown' } }
    subscriptions.set(id, { ...row, items: { ...row.items, data: [unknown] } })
    await write(shop.app, 'DELETE FROM subscriptions')
    const card = await shop.stripe.paymentMethods.attach('pm_card_visa', { customer })
    await shop.stripe.subscriptions.create({
      customer,
      default_payment_method: card.id,
      items: [{ price: shop.prices.pro }],
    })
    await shop.settled()
    assert.equal((await shop.row())?.plan, 'pro')
    assert.deepEqual(
      [...invoices.values()].map(({ status }) => status),
      ['paid', 'open', 'paid'],
    )
  })
})
