import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { findSubscription } from '../../../lib/billing/subscription/subscriptions.ts'
import { type Plan, readPlans } from '../../../lib/config/plans.ts'
import { write } from '../../support/database/sql.ts'
import { codeOf, recordingLog, type TestApp } from '../../support/helpers.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { DAY, methodOf, openShop, type Shop, SUBSCRIPTION } from '../shop.ts'

const Subscribed = v.object({ plan: v.object({ id: v.string(), monthlyCap: v.number() }) })
const Listed = v.array(v.object({ id: v.string() }))

const folder = tempFolder()

function plansFile(plans: readonly Plan[]): string {
  const file = join(folder, 'plans.json')
  writeFileSync(file, JSON.stringify(plans))
  return file
}

async function planOf(app: TestApp, key: string) {
  const { body } = await app.send('GET', SUBSCRIPTION, { key })
  return v.parse(Subscribed, body).plan
}

/**
 * Restarts without the prices of Pro. Then the buyer of `first` buys Starter, too, on a page that Meridian did
 * not open, and ends that. Returns the plan in between, and what is left.
 */
async function restartAndBuyAnother(shop: Shop, first: string) {
  const { customer, currency } = shop.atStripe(first)
  const { product } = await shop.stripe.prices.retrieve(shop.prices.starter)
  const recurring = { interval: 'month' } as const
  const another = { product: String(product), currency, unit_amount: 900, recurring }
  const { id: price } = await shop.stripe.prices.create(another)
  await using app = await shop.app.restart({
    STRIPE_PRICE_PRO: '',
    STRIPE_PRICE_PRO_YEARLY: '',
    STRIPE_PRICE_STARTER: `${shop.prices.starter},${price}`,
  })
  shop.pass(DAY)
  const { id } = await shop.stripe.subscriptions.create({
    customer: String(customer),
    default_payment_method: methodOf(shop, first),
    items: [{ price }],
  })
  await app.services.reconciliation.run()
  const between = (await planOf(app, shop.key)).id
  await shop.stripe.subscriptions.cancel(id)
  await app.services.reconciliation.run()
  const row = await findSubscription(app.services.db, shop.userId)
  return { between, row, after: (await planOf(app, shop.key)).id }
}

const dropped = (price: string) => `${price} belongs to no plan here; users who pay it: 1`

describe('a subscriber whose price was dropped from the settings', () => {
  it('keeps the plan, renews, is reported, and can cancel', async () => {
    const log = recordingLog()
    await using shop = await openShop({ log })
    await shop.buy('pro')
    await using app = await shop.app.restart({ STRIPE_PRICE_PRO: '' })
    const { key, userId } = shop
    log.events.length = 0
    await app.services.reconciliation.run()
    const errors = log.events.filter(({ level }) => level === 'error')
    assert.deepEqual(
      errors.map(({ fields, message }) => [fields, message]),
      [
        [
          {
            kind: 'unknown-price',
            count: 1,
            first: [{ user: userId, customer: null, detail: dropped(shop.prices.pro) }],
          },
          'users pay a Stripe price that belongs to no plan here; they keep their last known plan',
        ],
      ],
    )
    assert.equal((await planOf(app, key)).id, 'pro')
    shop.double.switchDeliveries('drop', 1_000)
    shop.pass(32 * 86_400)
    await app.services.reconciliation.run()
    assert.equal((await planOf(app, key)).id, 'pro')
    const again = await app.send('POST', SUBSCRIPTION, { key, body: { planId: 'starter' } })
    assert.equal(codeOf(again), 'ALREADY_SUBSCRIBED')
    assert.equal((await app.send('DELETE', SUBSCRIPTION, { key })).status, 200)
    const change = await app.send('PUT', SUBSCRIPTION, { key, body: { planId: 'starter' } })
    assert.equal(change.status, 200)
    assert.equal((await planOf(app, key)).id, 'starter')
  })

  it('keeps overages when their price is dropped', async () => {
    await using shop = await openShop()
    await shop.buy('pro')
    await shop.send('PATCH', SUBSCRIPTION, { overagesEnabled: true })
    await using app = await shop.app.restart({ STRIPE_PRICE_OVERAGE: '' })
    await app.services.reconciliation.run()
    const { body } = await app.send('GET', SUBSCRIPTION, { key: shop.key })
    const Overages = v.object({ subscription: v.object({ overagesEnabled: v.boolean() }) })
    assert.equal(v.parse(Overages, body).subscription.overagesEnabled, true)
  })
})

describe('a dropped price beside a second subscription', () => {
  const terms = [
    { interval: 'month', currency: 'usd' },
    { interval: 'year', currency: 'usd' },
    { interval: 'year', currency: 'eur' },
  ] as const
  for (const { interval, currency } of terms) {
    it(`still sells its plan by the ${interval} in ${currency} after the second has ended`, async () => {
      await using shop = await openShop({ sellsYearly: true })
      const { id } = await shop.buy('pro', { interval, currency })
      const { between, row, after } = await restartAndBuyAnother(shop, id)
      assert.deepEqual([between, after], ['starter', 'pro'])
      assert.deepEqual([row?.id, row?.interval, row?.currency], [id, interval, currency])
    })
  }

  it('still sells the plan to which the subscription was changed, with its overages', async () => {
    await using shop = await openShop()
    const { id } = await shop.buy('starter')
    await shop.send('PUT', SUBSCRIPTION, { planId: 'pro' })
    await shop.send('PATCH', SUBSCRIPTION, { overagesEnabled: true })
    const { row, after } = await restartAndBuyAnother(shop, id)
    assert.deepEqual([after, row?.overages], ['pro', true])
    const [plan] = shop.atStripe(id).items.data
    assert.equal(row?.itemId, plan?.id)
  })

  it('sells nothing if the metadata names no paid plan', async () => {
    for (const named of ['free', 'unlimited', 'none']) {
      await using shop = await openShop()
      const { id } = await shop.buy('pro')
      await shop.stripe.subscriptions.update(id, { metadata: { meridian_plan: named } })
      const { row, after } = await restartAndBuyAnother(shop, id)
      assert.deepEqual([after, row], ['free', null])
    }
  })
})

describe('a plan that was removed from the file', () => {
  const shop = freshly(openShop)

  it('stays in effect for its subscribers and for those who were given it, but is not sold', async () => {
    await shop.buy('pro')
    const given = await shop.app.makeKey({ email: 'bob@example.com', plan: 'pro' })
    const { list } = readPlans(undefined)
    const pro = list.find(({ id }) => id === 'pro')
    await using app = await shop.app.restart({
      MERIDIAN_PLANS: plansFile(list.filter(({ id }) => id !== 'pro')),
    })
    await app.services.reconciliation.run()
    for (const key of [shop.key, given]) {
      const plan = await planOf(app, key)
      assert.deepEqual([plan.id, plan.monthlyCap], ['pro', pro?.monthlyCap])
    }
    const plans = v.parse(Listed, (await app.send('GET', '/v1/billing/plans')).body)
    assert.equal(
      plans.some(({ id }) => id === 'pro'),
      false,
    )
    const bob = await app.send('POST', SUBSCRIPTION, { key: given, body: { planId: 'pro' } })
    assert.equal(codeOf(bob), 'BAD_REQUEST')
    assert.equal((await app.send('DELETE', SUBSCRIPTION, { key: shop.key })).status, 200)
  })

  it('is the plan of the file again once it is back', async () => {
    await shop.buy('pro')
    const { list } = readPlans(undefined)
    await using without = await shop.app.restart({
      MERIDIAN_PLANS: plansFile(list.filter(({ id }) => id !== 'pro')),
    })
    const larger = list.map((plan) => (plan.id === 'pro' ? { ...plan, monthlyCap: 7 } : plan))
    await using app = await without.restart({ MERIDIAN_PLANS: plansFile(larger) })
    assert.equal((await planOf(app, shop.key)).monthlyCap, 7)
  })
})

describe('a customer', () => {
  it('that Stripe deleted loses the plan, one that it does not know keeps it', async () => {
    await using shop = await openShop()
    await shop.buy('pro')
    const row = await shop.row()
    const customer = String(shop.atStripe(row?.id ?? '').customer)
    const { customers, subscriptions } = shop.double.world.state.tables
    const stored = customers.get(customer)
    assert.ok(stored)
    customers.delete(customer)
    subscriptions.clear()
    await shop.app.services.reconciliation.run()
    assert.deepEqual(await shop.row(), row)
    customers.set(customer, stored)
    shop.double.switchDeliveries('drop', 100)
    await shop.stripe.customers.del(customer)
    await shop.app.services.reconciliation.run()
    assert.equal(await shop.row(), null)
  })

  it('is assigned again by its own metadata if its subscription has none', async () => {
    await using shop = await openShop()
    const { id } = await shop.buy('pro')
    const { services } = shop.app
    await write(shop.app, 'DELETE FROM billing_customers')
    const { subscriptions } = shop.double.world.state.tables
    subscriptions.set(id, { ...shop.atStripe(id), metadata: {} })
    await services.reconciliation.run()
    assert.equal((await shop.row())?.plan, 'pro')
  })
})
