import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { codeOf, recordingLog } from '../../support/helpers.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { auditOf, DAY, methodOf, openShop, type Shop, SUBSCRIPTION } from '../shop.ts'

const SET = '/v1/billing/payment-method'

/** Starter, whose renewal fails. */
async function openOwing(): Promise<Shop> {
  const shop = await openShop()
  shop.double.setDunning({ end: 'unpaid' })
  const { id } = await shop.buy('starter')
  const customer = String(shop.atStripe(id).customer)
  const card = await shop.stripe.paymentMethods.attach('pm_card_chargeCustomerFail', { customer })
  await shop.stripe.subscriptions.update(id, { default_payment_method: card.id })
  shop.pass(31 * DAY + 3_600)
  await shop.settled()
  assert.equal((await shop.row())?.status, 'past_due')
  return shop
}

/** Sets a new card with this test token. */
async function setCard({ stripe, send }: Shop, token: string) {
  const { id } = await stripe.paymentMethods.create({ type: 'card', card: { token } })
  return send('POST', SET, { paymentMethodId: id })
}

const totals = ({ double }: Shop) =>
  [...double.world.state.tables.invoices.values()].map(
    ({ status, amount_due }) => `${status} ${amount_due}`,
  )

const defaultCard = (shop: Shop, id: string) =>
  shop.double.world.state.tables.paymentMethods.get(methodOf(shop, id))?.card?.last4

describe('a new card', () => {
  const shop = freshly(openOwing)

  it('pays the open invoice of a subscription that is past due at once', async () => {
    const answer = await setCard(shop, 'tok_visa')
    assert.equal(answer.status, 200, answer.text)
    const row = await shop.row()
    assert.equal(row?.status, 'active')
    assert.deepEqual(totals(shop), ['paid 900', 'paid 900'])
    assert.equal(defaultCard(shop, row.id), '4242')
    const last = (await auditOf(shop)).slice(-2)
    assert.deepEqual(
      last.map(({ action, detail }) => [action, detail]),
      [
        ['set_payment_method', null],
        ['subscription_updated', 'starter past_due to starter active'],
      ],
    )
    await shop.settled()
    assert.equal((await shop.row())?.status, 'active')
  })

  it('pays the first invoice of an incomplete subscription', async () => {
    await using shop = await openShop()
    const { id } = await shop.buy('starter')
    const { customer } = shop.atStripe(id)
    const method = methodOf(shop, id)
    await shop.stripe.subscriptions.cancel(id)
    await shop.stripe.paymentMethods.detach(method)
    const failing = await shop.stripe.paymentMethods.attach('pm_card_chargeCustomerFail', {
      customer: String(customer),
    })
    await shop.stripe.subscriptions.create({
      customer: String(customer),
      items: [{ price: shop.prices.pro }],
      default_payment_method: failing.id,
    })
    await shop.settled()
    assert.equal((await shop.row())?.status, 'incomplete')
    assert.equal((await setCard(shop, 'tok_visa')).status, 200)
    assert.equal((await shop.row())?.status, 'active')
    assert.equal((await shop.row())?.plan, 'pro')
  })

  it('that is declined is 400, and leaves the old card and the open invoice', async () => {
    const before = await auditOf(shop)
    const answer = await setCard(shop, 'tok_chargeCustomerFail')
    assert.equal(answer.status, 400)
    assert.equal(codeOf(answer), 'PAYMENT_FAILED')
    assert.deepEqual(totals(shop), ['paid 900', 'open 900'])
    const row = await shop.row()
    assert.equal(row?.status, 'past_due')
    const method = methodOf(shop, row.id)
    const { paymentMethods } = shop.double.world.state.tables
    assert.equal([...paymentMethods.keys()].indexOf(method), 1)
    assert.deepEqual(await auditOf(shop), before)
  })

  it('whose bank asks becomes the default, and the invoice waits for the confirmation', async () => {
    assert.equal((await setCard(shop, 'tok_authenticationRequired')).status, 200)
    const row = await shop.row()
    assert.equal(row?.status, 'past_due')
    assert.equal(defaultCard(shop, row.id), '3184')
    assert.deepEqual(totals(shop), ['paid 900', 'open 900'])
  })

  it('pays once, however often it is set', async () => {
    const { id } = await shop.stripe.paymentMethods.create({
      type: 'card',
      card: { token: 'tok_visa' },
    })
    for (let n = 0; n < 2; n++) {
      assert.equal((await shop.send('POST', SET, { paymentMethodId: id })).status, 200)
    }
    assert.deepEqual(totals(shop), ['paid 900', 'paid 900'])
  })

  it('does not pay for a change of the plan that waits for a confirmation', async () => {
    await using shop = await openShop()
    const { id } = await shop.buy('starter')
    const customer = String(shop.atStripe(id).customer)
    const asks = await shop.stripe.paymentMethods.attach('pm_card_authenticationRequired', {
      customer,
    })
    await shop.stripe.subscriptions.update(id, { default_payment_method: asks.id })
    await shop.send('PUT', '/v1/billing/subscription', { planId: 'pro' })
    assert.equal((await setCard(shop, 'tok_visa')).status, 200)
    assert.deepEqual(totals(shop), ['paid 900', 'open 2000'])
    assert.equal((await shop.row())?.plan, 'starter')
  })
})

/*
 * A card of the portal is "set as the `customer.invoice_settings.default_payment_method`"
 * (https://docs.stripe.com/customer-management/portal-deep-links), and that of a subscription "takes precedence"
 * (SDK, Subscription.default_payment_method): Checkout sets that one.
 */
describe('a new card of the customer portal', () => {
  const shop = freshly(openShop)

  it('pays the next renewal', async () => {
    const { id } = await shop.buy('starter')
    await addInPortal(shop, id, 'pm_card_mastercard')
    shop.pass(31 * DAY + 3_600)
    assert.equal(defaultCard(shop, id), '4444')
    assert.deepEqual(totals(shop), ['paid 900', 'paid 900'])
  })

  it('pays although the subscription kept its own card, once a reconciliation has run', async () => {
    shop.double.switchDeliveries('drop', 1_000)
    const { id } = await buyUnnoticed(shop)
    shop.pass(DAY)
    await addInPortal(shop, id, 'pm_card_mastercard')
    assert.equal(defaultCard(shop, id), '4242')
    await shop.app.services.reconciliation.run()
    assert.equal(defaultCard(shop, id), '4444')
  })

  it('is tried again by the reconciliation if Stripe refused it', async () => {
    const log = recordingLog()
    await using logged = await openShop({ log })
    await logged.send('POST', SUBSCRIPTION, { planId: 'starter' })
    const [session] = logged.double.world.state.tables.sessions.values()
    logged.double.failCalls({ kind: '403', method: 'POST' }, 10)
    logged.double.payCheckout(session?.id ?? '', { card: 'pm_card_visa' })
    await logged.settled()
    logged.double.clearFaults()
    const { id } = (await logged.row()) ?? {}
    assert.notEqual(logged.atStripe(id ?? '').default_payment_method, null)
    assert.ok(
      log.events.some(({ message }) => /^cannot make the card .* that of the/.test(message)),
    )
    await logged.app.services.reconciliation.run()
    assert.equal(logged.atStripe(id ?? '').default_payment_method, null)
    assert.equal(defaultCard(logged, id ?? ''), '4242')
  })
})

async function buyUnnoticed(shop: Shop): Promise<{ readonly id: string }> {
  await shop.send('POST', SUBSCRIPTION, { planId: 'starter' })
  const [session] = shop.double.world.state.tables.sessions.values()
  return {
    id: String(shop.double.payCheckout(session?.id ?? '', { card: 'pm_card_visa' }).subscription),
  }
}

async function addInPortal({ stripe, atStripe, settled }: Shop, id: string, card: string) {
  const customer = String(atStripe(id).customer)
  const { id: method } = await stripe.paymentMethods.attach(card, { customer })
  const invoice_settings = { default_payment_method: method }
  await stripe.customers.update(customer, { invoice_settings })
  await settled()
}

/*
 * "If the subscription is `unpaid`, … leaves new invoices in `draft`", and only the most recent one makes it
 * active again: https://docs.stripe.com/billing/subscriptions/overview#subscription-statuses
 */
describe('a subscription that is unpaid after all retries', () => {
  const shop = freshly(openOwing)

  it('has ended: a new card pays nothing, also a period later', async () => {
    shop.pass(46 * DAY)
    await shop.settled()
    assert.equal(await shop.row(), null)
    assert.match((await shop.send('GET', SUBSCRIPTION)).text, /"subscription":null/)
    const { id } = await shop.stripe.paymentMethods.create({
      type: 'card',
      card: { token: 'tok_visa' },
    })
    const answer = await shop.send('POST', SET, { paymentMethodId: id })
    assert.equal(codeOf(answer), 'NO_ACTIVE_SUBSCRIPTION')
    assert.deepEqual(totals(shop), ['paid 900', 'open 900', 'draft 900'])
  })

  it('owes nothing once a plan is bought again, but what it owes elsewhere stays', async () => {
    shop.pass(16 * DAY)
    await shop.settled()
    const [{ id: ended, customer } = { id: '', customer: '' }] = [
      ...shop.double.world.state.tables.subscriptions.values(),
    ]
    const failing = methodOf(shop, ended)
    const consulting = await shop.stripe.subscriptions.create({
      customer: String(customer),
      items: [{ price: shop.prices.starter }],
      default_payment_method: failing,
      metadata: { sold_by: 'somebody else' },
    })
    await shop.stripe.subscriptions.cancel(consulting.id)
    assert.deepEqual(totals(shop), ['paid 900', 'open 900', 'open 900'])
    await shop.send('POST', SUBSCRIPTION, { planId: 'pro' })
    assert.equal(shop.atStripe(ended).status, 'canceled')
    assert.deepEqual(totals(shop), ['paid 900', 'open 900', 'open 900'])
    await shop.buy('pro')
    assert.deepEqual(totals(shop), ['paid 900', 'void 900', 'open 900', 'paid 2900'])
    assert.equal((await shop.row())?.status, 'active')
  })
})
