import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { saveStripeAccount } from '../../../lib/billing/mirror/stripe-account.ts'
import { findCustomer } from '../../../lib/billing/subscription/customers.ts'
import type { SubscriptionResponse } from '../../../lib/contract/billing/billing-schemas.ts'
import { readEverything, write } from '../../support/database/sql.ts'
import { codeOf, makeApp } from '../../support/helpers.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { auditOf, DAY, openShop, type Shop, SUBSCRIPTION } from '../shop.ts'

const Opened = v.object({ url: v.string() })

const sessions = ({ double }: Shop) => [...double.world.state.tables.sessions.values()]
const customers = ({ double }: Shop) => [...double.world.state.tables.customers.values()]

async function planOf(shop: Shop): Promise<string> {
  const { body } = await shop.send('GET', SUBSCRIPTION)
  return (body as SubscriptionResponse).plan.id // safe: `send` checks it against the contract
}

describe('POST /v1/billing/subscription', () => {
  const shop = freshly(openShop)

  it('returns a payment page for the plan, which takes effect as soon as it is paid', async () => {
    const { body } = await shop.send('POST', SUBSCRIPTION, { planId: 'pro' })
    const { url } = v.parse(Opened, body)
    const form = new URLSearchParams({ card: '4242 4242 4242 4242', name: 'Ada' })
    const paid = await fetch(url, { method: 'POST', body: form, redirect: 'manual' })
    assert.equal(paid.status, 303)
    assert.equal(paid.headers.get('location'), 'http://127.0.0.1:8787/app/billing?checkout=done')
    await shop.settled()
    assert.deepEqual((await shop.send('GET', SUBSCRIPTION)).body, {
      plan: {
        id: 'pro',
        name: 'Pro',
        monthlyCap: 100_000,
        maxKeys: 10,
        maxSites: 2,
        price: 29,
        stripePriceId: shop.prices.pro,
      },
      subscription: {
        id: (await shop.row())?.id,
        status: 'active',
        currentPeriodStart: '2026-01-15T12:00:00.000Z',
        currentPeriodEnd: '2026-02-15T12:00:00.000Z',
        overagesEnabled: false,
      },
    })
    const { tier } = v.parse(
      v.object({ meta: v.object({ tier: v.string() }) }),
      (await shop.send('GET', '/v1/ip/81.2.69.160')).body,
    ).meta
    assert.equal(tier, 'pro')
    assert.deepEqual(
      (await auditOf(shop)).map(({ app, action, detail }) => [app, action, detail]),
      [
        ['api', 'create_checkout', null],
        ['stripe', 'subscription_updated', 'none to pro active'],
      ],
    )
  })

  it('opens a session that asks for address and tax id; its customer names the user', async () => {
    await shop.send('POST', SUBSCRIPTION, { planId: 'starter' })
    const [customer, ...others] = customers(shop)
    assert.deepEqual(others, [])
    assert.equal(customer?.email, 'ada@example.com')
    assert.deepEqual(customer.metadata, { meridian_user: shop.userId })
    const [session] = sessions(shop)
    assert.ok(session)
    assert.equal(session.customer, customer.id)
    assert.equal(session.client_reference_id, shop.userId)
    assert.equal(session.allow_promotion_codes, true)
    assert.equal(session.billing_address_collection, 'required')
    assert.equal(session.tax_id_collection?.enabled, true)
    assert.equal(session.cancel_url, 'http://127.0.0.1:8787/app/billing?checkout=canceled')
    const { id } = await shop.buy('starter')
    const metadata = { meridian_user: shop.userId, meridian_plan: 'starter' }
    assert.deepEqual(shop.atStripe(id).metadata, metadata)
  })

  it('answers a client secret if the page is embedded', async () => {
    const wish = { planId: 'pro', embedded: true }
    const { body } = await shop.send('POST', SUBSCRIPTION, wish)
    const [session] = sessions(shop)
    assert.deepEqual(body, { clientSecret: session?.client_secret })
    assert.equal(session?.ui_mode, 'embedded_page')
    const stored = await readEverything(shop.app)
    assert.equal(stored.includes(session?.client_secret ?? ''), false)
  })

  it('closes pages that were opened before, so that nobody pays twice in two tabs', async () => {
    await shop.send('POST', SUBSCRIPTION, { planId: 'starter' })
    await Promise.all([
      shop.send('POST', SUBSCRIPTION, { planId: 'starter' }),
      shop.send('POST', SUBSCRIPTION, { planId: 'pro' }),
    ])
    const states = sessions(shop).map(({ status }) => status)
    assert.deepEqual(states, ['expired', 'expired', 'open'])
    assert.equal(customers(shop).length, 1)
  })

  it('answers 400 for a plan that is free, unknown or not for sale', async () => {
    await using shop = await openShop({ env: { STRIPE_PRICE_PRO: '' } })
    for (const planId of ['free', 'gold', 'pro']) {
      const answer = await shop.send('POST', SUBSCRIPTION, { planId })
      assert.equal(codeOf(answer), 'BAD_REQUEST', planId)
    }
    assert.deepEqual(shop.newCalls(), [])
  })

  it('answers 400 if the user pays for a plan whose price is missing in the settings', async () => {
    await shop.buy('pro')
    await using app = await shop.app.restart({ STRIPE_PRICE_PRO: '' })
    await app.services.reconciliation.run()
    const body = { planId: 'starter' }
    const answer = await app.send('POST', SUBSCRIPTION, { key: shop.key, body })
    assert.equal(codeOf(answer), 'ALREADY_SUBSCRIBED')
  })

  it('answers 400 if Stripe has a subscription that we do not know', async () => {
    shop.double.switchDeliveries('drop', 100)
    const { body } = await shop.send('POST', SUBSCRIPTION, { planId: 'starter' })
    const { url } = v.parse(Opened, body)
    await fetch(url, {
      method: 'POST',
      body: new URLSearchParams({ card: '4242 4242 4242 4242' }),
      redirect: 'manual',
    })
    assert.equal(await planOf(shop), 'free')
    const answer = await shop.send('POST', SUBSCRIPTION, { planId: 'pro' })
    assert.equal(codeOf(answer), 'ALREADY_SUBSCRIBED')
    assert.equal(await planOf(shop), 'starter')
  })

  for (const [state, seconds] of [
    ['knows', 0],
    ['has forgotten', 2 * DAY],
  ] as const) {
    it(`creates the customer once, even if the answer is lost and Stripe ${state} its key`, async () => {
      await loseCustomer(shop)
      shop.pass(seconds)
      assert.equal((await shop.send('POST', SUBSCRIPTION, { planId: 'pro' })).status, 200)
      assert.equal(customers(shop).length, 1)
    })

    it(`finds it by its user if the address has changed since, and Stripe ${state} the key`, async () => {
      await loseCustomer(shop)
      await write(shop.app, "UPDATE users SET email = 'new@example.com', name = 'Ada'")
      shop.pass(seconds)
      assert.equal((await shop.send('POST', SUBSCRIPTION, { planId: 'pro' })).status, 200)
      assert.deepEqual(
        customers(shop).map(({ email, name }) => [email, name]),
        [['new@example.com', 'Ada']],
      )
    })
  }

  it('finds it by its address if the key may not search', async () => {
    const before = await buyer(shop)
    await write(shop.app, 'DELETE FROM billing_customers')
    shop.pass(2 * DAY)
    shop.double.failCalls({ kind: '403' })
    assert.equal((await shop.send('POST', SUBSCRIPTION, { planId: 'pro' })).status, 200)
    assert.deepEqual(
      customers(shop).map(({ id }) => id),
      [before],
    )
  })

  for (const kind of ['500', '500 done'] as const) {
    it(`is not blocked by failures that Stripe keeps, and creates one customer: ${kind}`, async () => {
      const buy = () => shop.send('POST', SUBSCRIPTION, { planId: 'pro' })
      for (let failures = 0; failures < 3; failures += 1) {
        // One for each key: those before repeat their failure.
        shop.double.failCalls({ kind, method: 'POST' }, failures + 1)
        assert.equal(codeOf(await buy()), 'BILLING_UNAVAILABLE')
        shop.double.clearFaults()
      }
      assert.equal((await buy()).status, 200)
      assert.equal(customers(shop).length, 1)
    })
  }

  it('creates one customer if the answer to the second key is lost, after a kept failure', async () => {
    const buy = () => shop.send('POST', SUBSCRIPTION, { planId: 'pro' })
    shop.double.failCalls({ kind: '500', method: 'POST' })
    assert.equal(codeOf(await buy()), 'BILLING_UNAVAILABLE')
    // The first key repeats its failure, and the second one creates the customer.
    shop.double.failCalls({ kind: 'slow', delayMs: 0, method: 'POST' })
    shop.double.failCalls({ kind: 'lost', method: 'POST' })
    assert.equal(codeOf(await buy()), 'BILLING_UNAVAILABLE')
    assert.equal(customers(shop).length, 1)
    assert.equal((await buy()).status, 200)
    assert.equal(customers(shop).length, 1)
  })

  it('uses a customer of the user that a restored backup lacks', async () => {
    const { db } = shop.app.services
    const before = await buyer(shop)
    await write(shop.app, 'DELETE FROM billing_customers')
    shop.pass(2 * DAY)
    assert.equal((await shop.send('POST', SUBSCRIPTION, { planId: 'pro' })).status, 200)
    assert.equal((await findCustomer(db, shop.userId))?.customerId, before)
    assert.equal(customers(shop).length, 1)
  })

  it('creates another customer if the known one was deleted', async () => {
    const { db } = shop.app.services
    await shop.send('POST', SUBSCRIPTION, { planId: 'pro' })
    for (const isForgotten of [false, true]) {
      await shop.settled()
      const before = await findCustomer(db, shop.userId)
      if (!isForgotten) shop.double.switchDeliveries('drop')
      await shop.stripe.customers.del(before?.customerId ?? '')
      await shop.settled()
      assert.equal((await findCustomer(db, shop.userId)) === null, isForgotten)
      assert.equal((await shop.send('POST', SUBSCRIPTION, { planId: 'pro' })).status, 200)
      const after = await findCustomer(db, shop.userId)
      assert.deepEqual(
        customers(shop).map(({ id }) => id),
        [after?.customerId],
      )
    }
  })

  it('pins the billing mode on which the sums of plan changes depend', async () => {
    await shop.send('POST', SUBSCRIPTION, { planId: 'pro' })
    const call = shop.double.calls().findLast(({ path }) => path === '/v1/checkout/sessions')
    const mode = new URLSearchParams(call?.body).get('subscription_data[billing_mode][type]')
    assert.equal(mode, 'flexible')
  })

  it('ends all unpaid subscriptions before it sells another', async () => {
    const customer = await buyer(shop)
    const subscribe = () =>
      shop.stripe.subscriptions.create({
        customer,
        items: [{ price: shop.prices.starter }],
        payment_behavior: 'default_incomplete',
      })
    const unpaid = [await subscribe(), await subscribe()]
    assert.deepEqual(
      unpaid.map(({ status }) => status),
      ['incomplete', 'incomplete'],
    )
    assert.equal((await shop.send('POST', SUBSCRIPTION, { planId: 'pro' })).status, 200)
    assert.deepEqual(
      unpaid.map(({ id }) => shop.atStripe(id).status),
      ['canceled', 'canceled'],
    )
  })

  it('replaces a customer that Stripe no longer knows, once the account is known to be ours', async () => {
    const gone = await buyer(shop)
    shop.double.world.state.tables.customers.delete(gone)
    const unknown = await shop.send('POST', SUBSCRIPTION, { planId: 'pro' })
    assert.equal(codeOf(unknown), 'BILLING_UNAVAILABLE')
    const { db, billing } = shop.app.services
    const account = await billing.readStripeAccount()
    await billing.change([saveStripeAccount(db, account)])
    assert.equal((await shop.send('POST', SUBSCRIPTION, { planId: 'pro' })).status, 200)
    assert.notEqual((await findCustomer(db, shop.userId))?.customerId, gone)
  })

  it('answers 503 without a Stripe key', async () => {
    await using app = await makeApp()
    const key = await app.makeKey({ plan: 'free' })
    const answer = await app.send('POST', SUBSCRIPTION, { key, body: { planId: 'pro' } })
    assert.equal(codeOf(answer), 'BILLING_NOT_CONFIGURED')
  })
})

async function buyer(shop: Shop): Promise<string> {
  await shop.send('POST', SUBSCRIPTION, { planId: 'pro' })
  return customers(shop)[0]?.id ?? ''
}

/** Creates the customer, but loses Stripe's answer. */
async function loseCustomer(shop: Shop): Promise<void> {
  shop.double.failCalls({ kind: 'slow', delayMs: 0 })
  shop.double.failCalls({ kind: 'lost' })
  const lost = await shop.send('POST', SUBSCRIPTION, { planId: 'pro' })
  assert.equal(codeOf(lost), 'BILLING_UNAVAILABLE')
  assert.equal(customers(shop).length, 1)
}
