import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import {
  findStripeAccount,
  isSameStripeAccount,
  type StripeAccount,
} from '../../../lib/billing/mirror/stripe-account.ts'
import { findCustomer } from '../../../lib/billing/subscription/customers.ts'
import { findSubscription } from '../../../lib/billing/subscription/subscriptions.ts'
import { seedPlans } from '../../../stripe-double/plans.ts'
import { startStripeDouble } from '../../../stripe-double/start-double.ts'
import { readValue } from '../../support/database/sql.ts'
import { codeOf, recordingLog, type TestApp } from '../../support/helpers.ts'
import { closedAfterTest, freshly } from '../../support/scene/freshly.ts'
import { openShop, type Shop, SUBSCRIPTION } from '../shop.ts'

const closed = closedAfterTest()

const Located = v.object({ meta: v.object({ tier: v.string() }) })

/** A shop with a subscriber of Pro, which knows its Stripe account. */
async function openWithSubscriber() {
  const log = recordingLog()
  const shop = closed(await openShop({ log }))
  await shop.buy('pro')
  await shop.app.services.reconciliation.run()
  return { shop, log }
}

async function startOther(shop: Shop) {
  const other = await startStripeDouble({ realNow: shop.now })
  seedPlans(other.world, [])
  return other
}

async function tierOf(app: TestApp, key: string): Promise<string> {
  const { body } = await app.send('GET', '/v1/ip/81.2.69.160', { key })
  return v.parse(Located, body).meta.tier
}

describe('a start with the key of another Stripe account', () => {
  it('changes no user, writes nothing at Stripe, says so, and recovers with the right key', async () => {
    const { shop, log } = await openWithSubscriber()
    await using other = await startOther(shop)
    const { userId, key } = shop
    const row = await shop.row()
    const customer = await findCustomer(shop.app.services.db, userId)
    await using wrong = await shop.app.restart({ STRIPE_API_BASE: other.url })
    const { db, reconciliation } = wrong.services
    log.events.length = 0
    await reconciliation.run()
    assert.deepEqual(await findSubscription(db, userId), row)
    assert.deepEqual(await findCustomer(db, userId), customer)
    assert.equal(await tierOf(wrong, key), 'pro')
    const buyer = await wrong.makeKey({ email: 'bob@example.com', plan: 'free' })
    const refused = [
      await wrong.send('DELETE', SUBSCRIPTION, { key }),
      await wrong.send('PUT', SUBSCRIPTION, { key, body: { planId: 'starter' } }),
      await wrong.send('GET', '/v1/billing/invoices', { key }),
      await wrong.send('POST', SUBSCRIPTION, { key: buyer, body: { planId: 'pro' } }),
    ]
    assert.deepEqual(
      refused.map(codeOf),
      refused.map(() => 'BILLING_UNAVAILABLE'),
    )
    assert.deepEqual(
      other.calls().map(({ method, path }) => `${method} ${path}`),
      ['GET /v1/account'],
    )
    const [error, ...more] = log.events.filter(({ level }) => level === 'error')
    const detail = `the key belongs to ${other.world.account} in test mode, the customers to ${shop.double.world.account} in test mode`
    assert.deepEqual(error?.fields, {
      kind: 'wrong-account',
      count: 1,
      first: [{ user: null, customer: null, detail }],
    })
    assert.match(error?.message ?? '', /^STRIPE_SECRET_KEY belongs to another Stripe account/)
    assert.deepEqual(more, [])
    assert.equal((await wrong.send('GET', '/health')).status, 200)
    assert.equal(reconciliation.last().succeededAt, 0)
    await using right = await wrong.restart({ STRIPE_API_BASE: shop.double.url })
    await right.services.reconciliation.run()
    assert.equal((await right.send('DELETE', SUBSCRIPTION, { key })).status, 200)
  })

  it('does not assign customers of that account', async () => {
    const { shop } = await openWithSubscriber()
    await using other = await startOther(shop)
    await using wrong = await shop.app.restart({ STRIPE_API_BASE: other.url })
    const { db, billing } = wrong.services
    await wrong.makeKey({ email: 'bob@example.com', plan: 'free' })
    const sql = "SELECT id FROM users WHERE email = 'bob@example.com'"
    const bob = String(await readValue(wrong, sql))
    const { findOrAssign } = await import('../../../lib/billing/subscription/customers.ts')
    const assigned = findOrAssign(billing, { customer: 'cus_other', user: bob }, shop.now())
    await assert.rejects(assigned, { code: 'BILLING_UNAVAILABLE' })
    assert.equal(await findCustomer(db, bob), null)
  })

  it('is noticed by the mode if the key may not read its account', () => {
    const unknown: StripeAccount = { account: null, mode: 'live' }
    const known: StripeAccount = { account: 'acct_1', mode: 'live' }
    assert.equal(isSameStripeAccount(unknown, known), true)
    assert.equal(isSameStripeAccount(known, { ...known, account: 'acct_2' }), false)
    assert.equal(isSameStripeAccount(known, { ...known, mode: 'test' }), false)
    assert.equal(isSameStripeAccount(unknown, { account: null, mode: 'test' }), false)
  })

  it('is noticed by missing customers if the key may not read its account', async () => {
    const log = recordingLog()
    await using shop = await openShop({ log })
    await shop.buy('pro')
    shop.double.failCalls({ kind: '403' })
    await shop.app.services.reconciliation.run()
    assert.deepEqual(await findStripeAccount(shop.app.services.db), {
      id: 1,
      account: null,
      mode: 'test',
    })
    await using other = await startOther(shop)
    other.failCalls({ kind: '403' })
    await using wrong = await shop.app.restart({ STRIPE_API_BASE: other.url })
    const { db, reconciliation } = wrong.services
    const customer = await findCustomer(db, shop.userId)
    log.events.length = 0
    await reconciliation.run()
    assert.deepEqual(await findCustomer(db, shop.userId), customer)
    assert.equal(await tierOf(wrong, shop.key), 'pro')
    const last = log.events.filter(({ level }) => level === 'error').at(-1)
    const detail = 'Stripe does not know the customer; keeps pro'
    assert.deepEqual(last?.fields, {
      kind: 'missing-customer',
      count: 1,
      first: [{ user: shop.userId, customer: customer?.customerId, detail }],
    })
    assert.match(last?.message ?? '', /^Stripe does not know some customers/)
    assert.equal(reconciliation.last().succeededAt, 0)
    const cancel = await wrong.send('DELETE', SUBSCRIPTION, { key: shop.key })
    assert.equal(codeOf(cancel), 'BILLING_UNAVAILABLE')
  })
})

describe('the account that customers belong to', () => {
  const shop = freshly(openShop)

  it('is not remembered before it has one of them', async () => {
    const { services } = shop.app
    await services.reconciliation.run()
    assert.equal(await findStripeAccount(services.db), null)
    await shop.buy('starter')
    await services.reconciliation.run()
    const { account } = shop.double.world
    assert.deepEqual(await findStripeAccount(services.db), { id: 1, account, mode: 'test' })
  })

  it('is not remembered by a first start with a wrong key', async () => {
    await shop.buy('starter')
    await using other = await startOther(shop)
    await using wrong = await shop.app.restart({ STRIPE_API_BASE: other.url })
    await wrong.services.reconciliation.run()
    assert.equal(await findStripeAccount(wrong.services.db), null)
    assert.equal(await tierOf(wrong, shop.key), 'starter')
  })
})
