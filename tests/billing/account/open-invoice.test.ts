import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type Stripe from 'stripe'
import { codeOf } from '../../support/helpers.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { auditOf, DAY, openShop, type Shop, SUBSCRIPTION } from '../shop.ts'

const SET = '/v1/billing/payment-method'

/** Starter, whose renewal fails. */
async function openOwing(): Promise<Shop> {
  const shop = await openShop()
  shop.double.endDunningAs('unpaid')
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

const defaultCard = (shop: Shop, { default_payment_method: id }: Stripe.Subscription) =>
  shop.double.world.state.tables.paymentMethods.get(String(id))?.card?.last4

describe('a new card', () => {
  const shop = freshly(openOwing)

  it('pays the open invoice of a subscription that is past due at once', async () => {
    const answer = await setCard(shop, 'tok_visa')
    assert.equal(answer.status, 200, answer.text)
    const row = await shop.row()
    assert.equal(row?.status, 'active')
    assert.deepEqual(totals(shop), ['paid 900', 'paid 900'])
    assert.equal(defaultCard(shop, shop.atStripe(row.id)), '4242')
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
    const { customer, default_payment_method: method } = shop.atStripe(id)
    await shop.stripe.subscriptions.cancel(id)
    await shop.stripe.paymentMethods.detach(String(method))
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
    const method = shop.atStripe(row.id).default_payment_method
    const { paymentMethods } = shop.double.world.state.tables
    assert.equal([...paymentMethods.keys()].indexOf(String(method)), 1)
    assert.deepEqual(await auditOf(shop), before)
  })

  it('whose bank asks becomes the default, and the invoice waits for the confirmation', async () => {
    assert.equal((await setCard(shop, 'tok_authenticationRequired')).status, 200)
    const row = await shop.row()
    assert.equal(row?.status, 'past_due')
    assert.equal(defaultCard(shop, shop.atStripe(row.id)), '3184')
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
    const failing = shop.atStripe(ended).default_payment_method
    const consulting = await shop.stripe.subscriptions.create({
      customer: String(customer),
      items: [{ price: shop.prices.starter }],
      default_payment_method: String(failing),
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
