import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { codeOf, recordingLog } from '../../support/helpers.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { auditOf, DAY, openShop, type Shop, SUBSCRIPTION } from '../shop.ts'

const DUPLICATES = `${SUBSCRIPTION}/duplicates`

/** Buys Starter and, ten days later, Pro on a page that Meridian did not open. */
async function payTwice(shop: Shop) {
  const { id: starter } = await shop.buy('starter')
  shop.pass(10 * DAY)
  await shop.settled()
  const { customer, id: pro } = await addPro(shop, starter)
  await shop.settled()
  return { customer, starter, pro }
}

/** Sells Pro to the customer of the subscription, with the same card. */
async function addPro(shop: Shop, subscription: string) {
  const { customer, default_payment_method: method } = shop.atStripe(subscription)
  const { id } = await shop.stripe.subscriptions.create({
    customer: String(customer),
    default_payment_method: String(method),
    items: [{ price: shop.prices.pro }],
  })
  return { customer: String(customer), id }
}

describe('two subscriptions of one customer', () => {
  it('are shown to the user, logged once for the operator, and audited', async () => {
    const log = recordingLog()
    await using shop = await openShop({ log })
    const { starter, pro } = await payTwice(shop)
    assert.equal((await shop.row())?.id, pro)
    assert.deepEqual((await shop.send('GET', DUPLICATES)).body, [
      {
        id: starter,
        planId: 'starter',
        status: 'active',
        currentPeriodEnd: '2026-02-15T12:00:00.000Z',
      },
    ])
    await shop.app.services.reconciliation.run()
    const warnings = log.events.filter(({ message }) => /second subscription/.test(message))
    assert.deepEqual(
      warnings.map(({ level, fields }) => [level, fields]),
      [['warn', { userId: shop.userId, subscription: starter }]],
    )
    const found = (await auditOf(shop)).filter(({ action }) => action === 'find_duplicate')
    assert.deepEqual(found, [{ app: 'stripe', action: 'find_duplicate', detail: 'starter' }])
  })

  it('are found by the reconciliation when events were lost', async () => {
    await using shop = await openShop()
    shop.double.switchDeliveries('drop', 1_000)
    await shop.send('POST', SUBSCRIPTION, { planId: 'starter' })
    const [session] = [...shop.double.world.state.tables.sessions.values()]
    shop.double.payCheckout(session?.id ?? '', { card: 'pm_card_visa' })
    await shop.app.services.reconciliation.run()
    shop.pass(1)
    await addPro(shop, (await shop.row())?.id ?? '')
    await shop.app.services.reconciliation.run()
    assert.match((await shop.send('GET', DUPLICATES)).text, /"planId":"starter"/)
  })

  it('become one: the other ends at once, and its unused time is credited', async () => {
    await using shop = await openShop()
    const { customer, starter, pro } = await payTwice(shop)
    assert.deepEqual((await shop.send('DELETE', DUPLICATES)).body, { success: true })
    assert.equal(shop.atStripe(starter).status, 'canceled')
    assert.equal((await shop.row())?.id, pro)
    assert.deepEqual((await shop.send('GET', DUPLICATES)).body, [])
    const { balance } = shop.double.world.state.tables.customers.get(customer) ?? {}
    assert.equal(balance, -Math.round((900 * 21) / 31))
    assert.deepEqual((await auditOf(shop)).at(-1), {
      app: 'api',
      action: 'end_duplicate',
      detail: 'starter',
    })
    await shop.settled()
    const rows = (await auditOf(shop)).filter(({ action }) => action === 'end_duplicate')
    assert.equal(rows.length, 1)
    shop.newCalls()
    assert.deepEqual((await shop.send('DELETE', DUPLICATES)).body, { success: true })
    assert.equal(
      shop.newCalls().some((call) => call.startsWith('DELETE')),
      false,
    )
  })

  it('become one without credit for time that was never paid', async () => {
    await using shop = await openShop()
    const { customer, starter } = await payTwice(shop)
    const { subscriptions, customers } = shop.double.world.state.tables
    subscriptions.set(starter, { ...shop.atStripe(starter), status: 'past_due' })
    shop.double.emit('customer.subscription.updated', shop.atStripe(starter))
    await shop.settled()
    assert.match((await shop.send('GET', DUPLICATES)).text, /"status":"past_due"/)
    assert.equal((await shop.send('DELETE', DUPLICATES)).status, 200)
    assert.equal(shop.atStripe(starter).status, 'canceled')
    assert.equal(customers.get(customer)?.balance, 0)
  })

  it('are one again when the operator ends the other at Stripe', async () => {
    await using shop = await openShop()
    const { starter } = await payTwice(shop)
    await shop.stripe.subscriptions.cancel(starter)
    await shop.settled()
    assert.deepEqual((await shop.send('GET', DUPLICATES)).body, [])
    const rows = (await auditOf(shop)).filter(({ action }) => action === 'end_duplicate')
    assert.deepEqual(rows, [{ app: 'stripe', action: 'end_duplicate', detail: 'starter' }])
  })
})

describe('ending duplicates', () => {
  const shop = freshly(openShop)

  it('is 404 without a subscription', async () => {
    assert.deepEqual((await shop.send('GET', DUPLICATES)).body, [])
    assert.equal(codeOf(await shop.send('DELETE', DUPLICATES)), 'NO_ACTIVE_SUBSCRIPTION')
  })

  it('leaves a single subscription alone', async () => {
    const { id } = await shop.buy('pro')
    assert.equal((await shop.send('DELETE', DUPLICATES)).status, 200)
    assert.equal((await shop.row())?.id, id)
    assert.equal(shop.atStripe(id).status, 'active')
  })
})
