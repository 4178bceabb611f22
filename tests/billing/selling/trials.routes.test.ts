import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { codeOf } from '../../support/helpers.ts'
import { plansFileOf } from '../../support/plans-file.ts'
import { DAY, openShop, type Shop, SUBSCRIPTION } from '../shop.ts'

const limits = { monthlyCap: 100, maxKeys: 5, maxSites: 1, requestsPerMinute: 100 }

/** A shop in which Pro can be tried for a fortnight, and Starter not at all. */
function openTrialShop(): Promise<Shop> {
  const plans = [
    { id: 'starter', name: 'Starter', ...limits, price: 9 },
    { id: 'pro', name: 'Pro', ...limits, price: 29, trialDays: 14 },
  ]
  return openShop({ env: { MERIDIAN_PLANS: plansFileOf(plans) } })
}

const invoices = ({ double }: Shop) => [...double.world.state.tables.invoices.values()]

const paid = (shop: Shop) => invoices(shop).map(({ amount_paid }) => amount_paid)

async function planAndStatus(shop: Shop) {
  const { body } = await shop.send('GET', SUBSCRIPTION)
  const { plan, subscription } = v.parse(Answer, body)
  return [plan.id, subscription?.status]
}

const Answer = v.object({
  plan: v.object({ id: v.string() }),
  subscription: v.nullable(v.object({ status: v.string() })),
})

describe('a trial', () => {
  it('gives the plan at once, and takes the first payment when it ends', async () => {
    await using shop = await openTrialShop()
    await shop.buy('pro')
    assert.deepEqual(await planAndStatus(shop), ['pro', 'trialing'])
    assert.deepEqual(paid(shop), [0])
    shop.pass(14 * DAY + 2 * 3_600)
    await shop.settled()
    assert.deepEqual(paid(shop), [0, 2900])
    assert.deepEqual(await planAndStatus(shop), ['pro', 'active'])
  })

  it('says when it ends', async () => {
    await using shop = await openTrialShop()
    await shop.buy('pro')
    await shop.app.services.catalogue.refresh()
    const terms = { interval: 'month', currency: 'usd', amount: 2900 }
    const trialEndsAt = '2026-01-29T12:00:00.000Z'
    const path = `${SUBSCRIPTION}/terms`
    assert.deepEqual((await shop.send('GET', path)).body, { ...terms, trialEndsAt })
    shop.pass(14 * DAY + 1)
    await shop.settled()
    assert.deepEqual((await shop.send('GET', path)).body, { ...terms, trialEndsAt: null })
  })

  it('is announced three days before its end', async () => {
    await using shop = await openTrialShop()
    await shop.buy('pro')
    const types = () => shop.double.deliveries().map(({ type }) => type)
    shop.pass(11 * DAY - 1)
    assert.equal(types().includes('customer.subscription.trial_will_end'), false)
    shop.pass(1)
    await shop.settled()
    assert.equal(types().includes('customer.subscription.trial_will_end'), true)
  })

  it('is given once, also after it was cancelled', async () => {
    await using shop = await openTrialShop()
    await shop.buy('pro')
    assert.equal((await shop.send('DELETE', SUBSCRIPTION)).status, 200)
    shop.pass(14 * DAY + 3_600)
    await shop.settled()
    assert.deepEqual(await planAndStatus(shop), ['free', undefined])
    assert.deepEqual(paid(shop), [0])
    const row = await shop.buy('pro')
    assert.equal(row.status, 'active')
    assert.deepEqual(paid(shop), [0, 2900])
  })

  it('is not used up by a payment page that nobody pays', async () => {
    await using shop = await openTrialShop()
    await shop.send('POST', SUBSCRIPTION, { planId: 'pro' })
    assert.equal((await shop.buy('pro')).status, 'trialing')
  })

  it('is only of the plans that have one', async () => {
    await using shop = await openTrialShop()
    assert.equal((await shop.buy('starter')).status, 'active')
    assert.deepEqual(paid(shop), [900])
  })

  it('needs a payment method, whose failure shows when it ends', async () => {
    await using shop = await openTrialShop()
    await shop.send('POST', SUBSCRIPTION, { planId: 'pro' })
    const [session] = [...shop.double.world.state.tables.sessions.values()]
    const id = session?.id ?? ''
    assert.throws(() => shop.double.payCheckout(id, { card: 'pm_card_visa_chargeDeclined' }))
    shop.double.payCheckout(id, { card: 'pm_card_chargeCustomerFail' })
    await shop.settled()
    assert.deepEqual(await planAndStatus(shop), ['pro', 'trialing'])
    shop.pass(14 * DAY + 2 * 3_600)
    await shop.settled()
    assert.deepEqual(await planAndStatus(shop), ['pro', 'past_due'])
  })

  it('goes on, for nothing, after a change of the plan', async () => {
    await using shop = await openTrialShop()
    await shop.buy('pro')
    shop.pass(2 * DAY)
    const { body } = await shop.send('GET', `${SUBSCRIPTION}/preview?planId=starter`)
    assert.equal(v.parse(v.object({ amountDue: v.number() }), body).amountDue, 0)
    assert.equal((await shop.send('PUT', SUBSCRIPTION, { planId: 'starter' })).status, 200)
    assert.deepEqual(await planAndStatus(shop), ['starter', 'trialing'])
    shop.pass(12 * DAY + 2 * 3_600)
    assert.deepEqual(paid(shop), [0, 900])
  })

  it('has no overages, which Stripe would not charge for', async () => {
    await using shop = await openTrialShop()
    await shop.buy('pro')
    const answer = await shop.send('PATCH', SUBSCRIPTION, { overagesEnabled: true })
    assert.equal(codeOf(answer), 'PLAN_REQUIRED')
    assert.match(answer.text, /trial/)
  })

  it('is not in the list of plans, but in the list of prices', async () => {
    await using shop = await openTrialShop()
    assert.doesNotMatch((await shop.app.send('GET', '/v1/billing/plans')).text, /trial/)
    assert.match((await shop.app.send('GET', '/v1/billing/prices')).text, /"trialDays":14/)
  })
})
