import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { insertCustomer } from '../../../lib/billing/subscription/customers.ts'
import { saveSubscription } from '../../../lib/billing/subscription/subscriptions.ts'
import type { Answer } from '../../support/contract-check.ts'
import { readValue } from '../../support/database/sql.ts'
import { codeOf, type TestApp } from '../../support/helpers.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { ask, CAP, openOverageShop, setOverages, subscribe } from './overages.ts'

const Usage = v.object({ monthlyCap: v.nullable(v.number()) })
const Meta = v.object({ meta: v.object({ degraded: v.boolean() }) })
const Subscription = v.object({ subscription: v.object({ overagesEnabled: v.boolean() }) })
const Audit = v.object({ logs: v.array(v.object({ detail: v.nullable(v.string()) })) })

/** The audit row of consent says what it costs. */
const ON = 'on: $0.001 per request, at most $87.00 per period'

async function isDegraded(app: TestApp, key: string): Promise<boolean> {
  const { body } = await app.send('GET', '/v1/ip/81.2.69.160', { key })
  return v.parse(Meta, body).meta.degraded
}

async function audited(app: TestApp, key: string) {
  const { body } = await app.send('GET', '/v1/account/me/audit?action=set_overages', { key })
  return v.parse(Audit, body).logs.map(({ detail }) => detail)
}

function assertOverages({ status, body }: Answer, overagesEnabled: boolean): void {
  assert.deepEqual({ status, body }, { status: 200, body: { overagesEnabled } })
}

describe('PATCH /v1/billing/subscription', () => {
  const at = freshly(openOverageShop)

  it('turns overages on: requests over the cap are answered in full', async () => {
    const { app, stripe, overage } = at
    const { key, subscription } = await subscribe(at)
    await ask(app, key, CAP)
    assert.equal(await isDegraded(app, key), true)
    assertOverages(await setOverages(app, key, true), true)
    assert.equal(await isDegraded(app, key), false)
    const usage = await app.send('GET', '/v1/account/me/usage', { key })
    assert.equal(v.parse(Usage, usage.body).monthlyCap, null)
    const shown = await app.send('GET', '/v1/billing/subscription', { key })
    assert.equal(v.parse(Subscription, shown.body).subscription.overagesEnabled, true)
    const { items, metadata } = await stripe.subscriptions.retrieve(subscription)
    assert.equal(metadata['meridian_overages'], 'on')
    assert.equal(items.data.filter(({ price }) => price.id === overage).length, 1)
    assert.deepEqual(await audited(app, key), [ON])
  })

  it('turns overages off, and keeps the item that charges for past units', async () => {
    const { app, stripe, overage } = at
    const { key, subscription } = await subscribe(at)
    await setOverages(app, key, true)
    await ask(app, key, CAP + 1)
    assertOverages(await setOverages(app, key, false), false)
    assert.equal(await isDegraded(app, key), true)
    const { items, metadata } = await stripe.subscriptions.retrieve(subscription)
    assert.equal(metadata['meridian_overages'], 'off')
    assert.ok(items.data.some(({ price }) => price.id === overage))
    assertOverages(await setOverages(app, key, true), true)
    const { items: again } = await stripe.subscriptions.retrieve(subscription)
    assert.equal(again.data.length, 2)
    assert.deepEqual(await audited(app, key), [ON, 'off', ON])
  })

  it('answers the same and writes no audit row if nothing changes', async () => {
    const { app, stripe } = at
    const { key, subscription } = await subscribe(at)
    const both = await Promise.all([setOverages(app, key, true), setOverages(app, key, true)])
    for (const answer of both) assertOverages(answer, true)
    assertOverages(await setOverages(app, key, true), true)
    const { items } = await stripe.subscriptions.retrieve(subscription)
    assert.equal(items.data.length, 2)
    assert.deepEqual(await audited(app, key), [ON])
  })

  it('takes effect once if it is repeated after a lost answer', async () => {
    const { app, double, stripe } = at
    const { key, subscription } = await subscribe(at)
    // The first call reads the subscription; the second, which the SDK repeats, changes it.
    double.failCalls({ kind: 'slow', delayMs: 0 })
    double.failCalls({ kind: 'lost' })
    const lost = await setOverages(app, key, true)
    double.clearFaults()
    assert.equal(codeOf(lost), 'BILLING_UNAVAILABLE')
    assertOverages(await setOverages(app, key, true), true)
    const { items } = await stripe.subscriptions.retrieve(subscription)
    assert.equal(items.data.length, 2)
  })

  it('answers 503 and changes nothing while Stripe fails', async () => {
    const { app, double } = at
    const { key } = await subscribe(at)
    await ask(app, key, CAP)
    for (const kind of ['429', '500', 'reset'] as const) {
      double.failCalls({ kind })
      const { status, body } = await setOverages(app, key, true)
      double.clearFaults()
      assert.equal(status, 503)
      assert.equal(codeOf({ body }), 'BILLING_UNAVAILABLE')
    }
    assert.equal(await isDegraded(app, key), true)
    assert.deepEqual(await audited(app, key), [])
  })

  it('answers 404 to a user who was given the plan, without a subscription', async () => {
    const key = await at.app.makeKey({ plan: 'pro' })
    const calls = at.double.calls().length
    const { status, body } = await setOverages(at.app, key, true)
    assert.equal(status, 404)
    assert.equal(codeOf({ body }), 'NO_ACTIVE_SUBSCRIPTION')
    assert.equal(at.double.calls().length, calls)
  })

  it('answers 403 below the plan pro', async () => {
    const { key } = await subscribe(at, { price: at.starter })
    const { status, body } = await setOverages(at.app, key, true)
    assert.equal(status, 403)
    assert.equal(codeOf({ body }), 'PLAN_REQUIRED')
  })

  it('answers 403 to a free user, who has no subscription', async () => {
    const key = await at.app.makeKey({ plan: 'free' })
    const { status, body } = await setOverages(at.app, key, false)
    assert.deepEqual([status, codeOf({ body })], [403, 'PLAN_REQUIRED'])
  })

  it('answers 503 if overages have no price', async () => {
    await using at = await openOverageShop(['STRIPE_PRICE_OVERAGE'])
    const { key } = await subscribe(at)
    assert.equal(codeOf(await setOverages(at.app, key, true)), 'BILLING_NOT_CONFIGURED')
  })

  it('answers 503 if nothing is sold any more', async () => {
    await using at = await openOverageShop(['STRIPE_SECRET_KEY', 'STRIPE_API_BASE'])
    const { app } = at
    const key = await app.makeKey({ plan: 'free' })
    const { db, keys, now } = app.services
    const userId = String(await readValue(app, 'SELECT id FROM users'))
    const subscription = saveSubscription(db, {
      userId,
      id: 'sub_test',
      itemId: 'si_test',
      plan: 'pro',
      status: 'active',
      periodStart: now(),
      periodEnd: now() + 1,
      cancelAt: null,
      overages: false,
      overageItemId: null,
      interval: 'month' as const,
      priceId: null,
      currency: null,
      trialEnd: null,
    })
    await keys.change([
      insertCustomer(db, { userId, customerId: 'cus_test', createdAt: now() }),
      subscription,
    ])
    assert.equal(codeOf(await setOverages(app, key, true)), 'BILLING_NOT_CONFIGURED')
  })
})
