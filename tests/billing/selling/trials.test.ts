import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { toMailbox } from '../../../lib/billing/subscription/trials.ts'
import { removeUser } from '../../../scripts/parts/users/remove.ts'
import { readRows, write } from '../../support/database/sql.ts'
import { codeOf } from '../../support/helpers.ts'
import { plansFileOf } from '../../support/plans-file.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { DAY, openShop, type Shop, SUBSCRIPTION } from '../shop.ts'

const limits = { monthlyCap: 100, maxKeys: 5, maxSites: 1, requestsPerMinute: 100 }

interface TrialDays {
  readonly starter?: number
  readonly pro?: number
}

/** A shop in which Pro, by default, can be tried for a fortnight, and Starter not at all. */
function openTrialShop({ starter, pro }: TrialDays = { pro: 14 }): Promise<Shop> {
  const plans = [
    { id: 'starter', name: 'Starter', ...limits, price: 9, ...daysOf(starter) },
    { id: 'pro', name: 'Pro', ...limits, price: 29, ...daysOf(pro) },
  ]
  return openShop({ env: { MERIDIAN_PLANS: plansFileOf(plans) } })
}

const daysOf = (trialDays: number | undefined) => (trialDays === undefined ? {} : { trialDays })

describe('toMailbox', () => {
  it('gives addresses of one mailbox one form, and others their own', () => {
    const forms = (...emails: string[]) => [...new Set(emails.map(toMailbox))]
    assert.deepEqual(forms('Ada@Shop.example', 'ada+news@shop.example', 'ada+@shop.example'), [
      'ada@shop.example',
    ])
    assert.deepEqual(forms('a.da@gmail.com', 'ada@GoogleMail.com', 'ad.a+x@gmail.com'), [
      'ada@gmail.com',
    ])
    assert.equal(forms('a.da@shop.example', 'ada@shop.example').length, 2)
    assert.equal(forms('+a@shop.example', '+b@shop.example').length, 2)
  })
})

/** A shop in which the cheaper plan can be tried, and the dearer one not at all. */
const openStarterTrialShop = () => openTrialShop({ starter: 14 })

const invoices = ({ double }: Shop) => [...double.world.state.tables.invoices.values()]

const paid = (shop: Shop) => invoices(shop).map(({ amount_paid }) => amount_paid)

async function planAndStatus(shop: Shop) {
  const { body } = await shop.send('GET', SUBSCRIPTION)
  const { plan, subscription } = v.parse(Answer, body)
  return [plan.id, subscription?.status]
}

async function setCard(shop: Shop, paymentMethodId: string): Promise<void> {
  const answer = await shop.send('POST', '/v1/billing/payment-method', { paymentMethodId })
  assert.equal(answer.status, 200)
}

const Preview = v.object({
  amountDue: v.number(),
  lines: v.array(v.object({ description: v.string(), amount: v.number() })),
})

const Answer = v.object({
  plan: v.object({ id: v.string() }),
  subscription: v.nullable(v.object({ status: v.string() })),
})

describe('a trial', () => {
  const shop = freshly(openTrialShop)

  it('gives the plan at once, and takes the first payment when it ends', async () => {
    await shop.buy('pro')
    assert.deepEqual(await planAndStatus(shop), ['pro', 'trialing'])
    assert.deepEqual(paid(shop), [0])
    shop.pass(14 * DAY + 2 * 3_600)
    await shop.settled()
    assert.deepEqual(paid(shop), [0, 2900])
    assert.deepEqual(await planAndStatus(shop), ['pro', 'active'])
  })

  it('says when it ends', async () => {
    await shop.buy('pro')
    await shop.app.services.catalogue.refresh()
    const terms = { interval: 'month', currency: 'usd', amount: 2900, cancelAt: null }
    const trialEndsAt = '2026-01-29T12:00:00.000Z'
    const path = `${SUBSCRIPTION}/terms`
    assert.deepEqual((await shop.send('GET', path)).body, { ...terms, trialEndsAt })
    shop.pass(14 * DAY + 1)
    await shop.settled()
    assert.deepEqual((await shop.send('GET', path)).body, { ...terms, trialEndsAt: null })
  })

  it('is given once, also after it was cancelled', async () => {
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

  /** Buys Pro with the key of this user. Returns the status of the subscription. */
  async function buyAs(shop: Shop, email: string) {
    const key = await shop.app.makeKey({ email, plan: 'free' })
    const { sessions } = shop.double.world.state.tables
    const opened = await shop.app.send('POST', SUBSCRIPTION, { key, body: { planId: 'pro' } })
    assert.equal(opened.status, 200, opened.text)
    shop.double.payCheckout([...sessions.keys()].at(-1) ?? '', { card: 'pm_card_visa' })
    await shop.settled()
    return v.parse(Answer, (await shop.app.send('GET', SUBSCRIPTION, { key })).body).subscription
  }

  it('is given once for each address, also after the account was deleted', async () => {
    await shop.buy('pro')
    const body = { email: 'ada@example.com' }
    assert.equal((await shop.send('POST', '/v1/account/me/delete', body)).status, 200)
    for (const again of ['ada@example.com', 'ADA+2@Example.com']) {
      assert.equal((await buyAs(shop, again))?.status, 'active', again)
    }
    assert.equal((await buyAs(shop, 'a.da@example.com'))?.status, 'trialing')
    const kept = await readRows(shop.app, 'SELECT hash FROM tried_addresses')
    assert.equal(kept.length, 2)
    for (const [hash] of kept) assert.match(String(hash), /^[0-9a-f]{64}$/)
  })

  it('is given once for each address that its user had from the trial on', async () => {
    await shop.buy('pro')
    await write(
      shop.app,
      `UPDATE users SET email = 'moved@example.com' WHERE id = '${shop.userId}'`,
    )
    const body = { email: 'moved@example.com' }
    assert.equal((await shop.send('POST', '/v1/account/me/delete', body)).status, 200)
    for (const again of ['ada@example.com', 'moved@example.com']) {
      assert.equal((await buyAs(shop, again))?.status, 'active', again)
    }
  })

  it('is remembered by `npm run user -- --delete`, too', async () => {
    await shop.buy('pro')
    const { services } = shop.app
    const email = 'moved@example.com'
    await write(shop.app, `UPDATE users SET email = '${email}' WHERE id = '${shop.userId}'`)
    const command = { now: services.now(), command: 'npm run user' }
    const lock = async () => ({ [Symbol.dispose]: () => {} })
    const accounts = { ...services, ...command, lock, secrets: async () => services.secrets }
    await removeUser(accounts, { email, yes: true })
    assert.equal((await buyAs(shop, email))?.status, 'active')
  })

  it('is not used up by a payment page that nobody pays', async () => {
    await shop.send('POST', SUBSCRIPTION, { planId: 'pro' })
    assert.equal((await shop.buy('pro')).status, 'trialing')
  })

  it('is only of the plans that have one', async () => {
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
    await shop.buy('pro')
    shop.pass(2 * DAY)
    const { body } = await shop.send('GET', `${SUBSCRIPTION}/preview?planId=starter`)
    const { amountDue, lines } = v.parse(Preview, body)
    assert.equal(amountDue, 0)
    assert.deepEqual(lines, [{ description: 'Free trial for 1 × Meridian Starter', amount: 0 }])
    assert.equal((await shop.send('PUT', SUBSCRIPTION, { planId: 'starter' })).status, 200)
    assert.deepEqual(await planAndStatus(shop), ['starter', 'trialing'])
    shop.pass(12 * DAY + 2 * 3_600)
    assert.deepEqual(paid(shop), [0, 0, 900])
  })

  it('ends, and the plan is paid at once, with a change to a dearer plan that has none', async () => {
    await using shop = await openStarterTrialShop()
    await shop.buy('starter')
    shop.pass(2 * DAY)
    const { body } = await shop.send('GET', `${SUBSCRIPTION}/preview?planId=pro`)
    const { amountDue, lines } = v.parse(Preview, body)
    assert.equal(amountDue, 2900)
    assert.deepEqual(lines, [{ description: '1 × Meridian Pro', amount: 2900 }])
    assert.equal((await shop.send('PUT', SUBSCRIPTION, { planId: 'pro' })).status, 200)
    assert.deepEqual(await planAndStatus(shop), ['pro', 'active'])
    assert.deepEqual(paid(shop), [0, 2900])
    const row = await shop.row()
    assert.equal(row?.periodStart, shop.now())
    assert.equal(row?.trialEnd, null)
    shop.pass(31 * DAY + 2 * 3_600)
    await shop.settled()
    assert.deepEqual(paid(shop), [0, 2900, 2900])
  })

  it('goes on if the card of a dearer plan is declined', async () => {
    await using shop = await openStarterTrialShop()
    await shop.buy('starter')
    await setCard(shop, 'pm_card_chargeCustomerFail')
    const answer = await shop.send('PUT', SUBSCRIPTION, { planId: 'pro' })
    assert.equal(codeOf(answer), 'PAYMENT_FAILED')
    assert.deepEqual(await planAndStatus(shop), ['starter', 'trialing'])
  })

  it('goes on if the bank wants the payment of a dearer plan confirmed', async () => {
    await using shop = await openStarterTrialShop()
    const { id } = await shop.buy('starter')
    await setCard(shop, 'pm_card_authenticationRequired')
    const answer = await shop.send('PUT', SUBSCRIPTION, { planId: 'pro' })
    assert.equal(codeOf(answer), 'PAYMENT_FAILED')
    assert.equal(shop.atStripe(id).pending_update, null)
    assert.deepEqual(await planAndStatus(shop), ['starter', 'trialing'])
  })

  it('goes on with a change to a dearer plan that has one, too', async () => {
    await using shop = await openTrialShop({ starter: 7, pro: 14 })
    await shop.buy('starter')
    assert.equal((await shop.send('PUT', SUBSCRIPTION, { planId: 'pro' })).status, 200)
    assert.deepEqual(await planAndStatus(shop), ['pro', 'trialing'])
  })

  it('has no overages, which Stripe would not charge for', async () => {
    await shop.buy('pro')
    const answer = await shop.send('PATCH', SUBSCRIPTION, { overagesEnabled: true })
    assert.equal(codeOf(answer), 'PLAN_REQUIRED')
    assert.match(answer.text, /trial/)
  })

  it('is not in the list of plans, but in the list of prices', async () => {
    assert.doesNotMatch((await shop.app.send('GET', '/v1/billing/plans')).text, /trial/)
    assert.match((await shop.app.send('GET', '/v1/billing/prices')).text, /"trialDays":14/)
  })
})
