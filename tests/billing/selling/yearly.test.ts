import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { ProrationPreview } from '../../../lib/contract/billing/billing-schemas.ts'
import { codeOf } from '../../support/helpers.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { auditOf, DAY, netOf, openShop, type Shop, SUBSCRIPTION, use } from '../shop.ts'

const YEAR = 365 * DAY

/** A shop that also sells the plan Pro by the year, for 290 dollars. */
const openYearlyShop = () => openShop({ sellsYearly: true })

const change = (shop: Shop, body: object) => shop.send('PUT', SUBSCRIPTION, body)

async function preview(shop: Shop, query: string) {
  const { body, text } = await shop.send('GET', `${SUBSCRIPTION}/preview?${query}`)
  return v.parse(ProrationPreview, body, { message: text })
}

const lastInvoice = ({ double }: Shop) => [...double.world.state.tables.invoices.values()].at(-1)

async function terms(shop: Shop) {
  return (await shop.send('GET', `${SUBSCRIPTION}/terms`)).body
}

describe('a plan paid by the year', () => {
  const shop = freshly(openYearlyShop)

  it('is bought, charged and renewed by the year', async () => {
    const row = await shop.buy('pro', { interval: 'year' })
    assert.deepEqual([row.plan, row.interval], ['pro', 'year'])
    assert.equal(row.periodEnd - row.periodStart, YEAR * 1000)
    assert.equal(lastInvoice(shop)?.amount_paid, 29_000)
    shop.pass(YEAR + 2 * 3_600)
    assert.equal(lastInvoice(shop)?.amount_paid, 29_000)
    await shop.settled()
    assert.equal((await shop.row())?.periodStart, row.periodEnd)
  })

  it('keeps its monthly cap: requests are counted by the months of the year', async () => {
    await shop.buy('pro', { interval: 'year' })
    const requests = async () => {
      const row = await shop.row()
      assert.ok(row)
      const { periodStart: start, periodEnd: end, interval } = row
      const paid = { start, end, interval, overages: null }
      return shop.app.services.meters.periodRequests({ userId: shop.userId, paid }, shop.now())
    }
    await shop.send('GET', '/v1/ip/81.2.69.160')
    assert.equal(await requests(), 1)
    shop.pass(31 * DAY)
    assert.equal(await requests(), 0)
    await shop.send('GET', '/v1/ip/81.2.69.160')
    assert.equal(await requests(), 1)
  })

  it('says how it is paid', async () => {
    assert.equal(codeOf(await shop.send('GET', `${SUBSCRIPTION}/terms`)), 'NO_ACTIVE_SUBSCRIPTION')
    await shop.buy('pro', { interval: 'year' })
    const known = { interval: 'year', currency: 'usd', trialEndsAt: null, cancelAt: null }
    assert.deepEqual(await terms(shop), { ...known, amount: null })
    await shop.app.services.catalogue.refresh()
    assert.deepEqual(await terms(shop), { ...known, amount: 29_000 })
  })

  it('has no overages', async () => {
    await shop.buy('pro', { interval: 'year' })
    const answer = await shop.send('PATCH', SUBSCRIPTION, { overagesEnabled: true })
    assert.equal(answer.status, 403)
    assert.equal(codeOf(answer), 'PLAN_REQUIRED')
    assert.match(answer.text, /by the month/)
  })

  it('is refused if the plan is not sold so', async () => {
    const wanted = { planId: 'starter', interval: 'year' }
    const bought = await shop.send('POST', SUBSCRIPTION, wanted)
    assert.equal(bought.status, 400)
    assert.match(bought.text, /interval: the plan starter is not sold by the year/)
    await shop.buy('pro', { interval: 'year' })
    assert.equal((await change(shop, { planId: 'starter' })).status, 400)
    assert.equal((await change(shop, { planId: 'starter', interval: 'month' })).status, 200)
    assert.equal((await change(shop, { planId: 'pro', interval: 'week' })).status, 400)
  })
})

describe('a change between month and year', () => {
  const shop = freshly(openYearlyShop)

  it('begins a year now, and credits the rest of the month', async () => {
    await shop.buy('pro')
    shop.pass(10 * DAY)
    const due = 29_000 - Math.round((2900 * 21) / 31)
    const shown = await preview(shop, 'planId=pro&interval=year')
    assert.equal(shown.amountDue, due)
    assert.equal((await change(shop, { planId: 'pro', interval: 'year' })).status, 200)
    assert.equal(lastInvoice(shop)?.amount_paid, due)
    const row = await shop.row()
    assert.equal(row?.periodStart, shop.now())
    assert.deepEqual([row?.plan, row?.interval], ['pro', 'year'])
    assert.equal(
      (await auditOf(shop)).findLast(({ action }) => action === 'change_plan')?.detail,
      'pro to pro by the year',
    )
  })

  it('back to the month leaves a credit that pays the next months', async () => {
    await shop.buy('pro', { interval: 'year' })
    assert.equal((await change(shop, { planId: 'pro', interval: 'month' })).status, 200)
    assert.equal(lastInvoice(shop)?.amount_paid, 0)
    shop.pass(31 * DAY + 2 * 3_600)
    assert.equal(lastInvoice(shop)?.amount_paid, 0)
    assert.equal(lastInvoice(shop)?.total, 2900)
  })

  it('changes nothing if the card is declined', async () => {
    const { id } = await shop.buy('pro')
    const customer = String(shop.atStripe(id).customer)
    const bad = await shop.stripe.paymentMethods.attach('pm_card_chargeCustomerFail', { customer })
    await shop.stripe.subscriptions.update(id, { default_payment_method: bad.id })
    const answer = await change(shop, { planId: 'pro', interval: 'year' })
    assert.equal(codeOf(answer), 'PAYMENT_FAILED')
    assert.equal((await shop.row())?.interval, 'month')
  })

  it('keeps the interval unless another is asked for', async () => {
    await shop.buy('starter')
    await change(shop, { planId: 'pro' })
    assert.equal((await shop.row())?.interval, 'month')
    shop.newCalls()
    assert.equal((await change(shop, { planId: 'pro', interval: 'month' })).status, 200)
    assert.equal(
      shop.newCalls().some((call) => call.startsWith('POST')),
      false,
    )
  })

  it('waits until the time passed covers the requests used, so that it gives no fresh cap', async () => {
    const { periodEnd } = await shop.buy('pro')
    const yearly = { planId: 'pro', interval: 'year' }
    await use(shop, 100_000)
    const early = await change(shop, yearly)
    assert.equal(early.status, 400)
    assert.match(early.text, /used up the paid time until 2026-02-15T11:59:59\.000Z/)
    const shown = await shop.send('GET', `${SUBSCRIPTION}/preview?planId=pro&interval=year`)
    assert.equal(shown.text.includes('used up the paid time'), true)
    shop.pass((periodEnd - shop.now()) / 1000 - 1)
    assert.equal((await change(shop, yearly)).status, 200)
  })

  it('is possible at once for a user who was not ahead of the time', async () => {
    await shop.buy('pro')
    // 25,000 requests for 900 cents, 20,000 for 533: half of the month has paid for them.
    await use(shop, 45_000)
    shop.pass(15.5 * DAY)
    assert.equal((await change(shop, { planId: 'pro', interval: 'year' })).status, 200)
    assert.equal((await shop.row())?.chargedFrom, '')
  })

  it('to a smaller plan waits in the same way', async () => {
    await shop.buy('pro', { interval: 'year' })
    await use(shop, 70_000)
    const starter = { planId: 'starter', interval: 'month' }
    const early = await change(shop, starter)
    assert.equal(early.status, 400)
    // 900 and 1200 cents of 2900: 22 days, 10 hours, 45 minutes and 32 seconds of the 31 days.
    assert.match(early.text, /until 2026-02-06T22:45:32\.000Z/)
    shop.pass(23 * DAY)
    assert.equal((await change(shop, starter)).status, 200)
  })

  // Requests made while it waits would count in the month that it credits, and again be covered by a new cap.
  it('is refused if the bank wants the payment confirmed, so that nothing is free', async () => {
    const { id } = await shop.buy('pro')
    const customer = String(shop.atStripe(id).customer)
    const card = await shop.stripe.paymentMethods.attach('pm_card_authenticationRequired', {
      customer,
    })
    await shop.stripe.subscriptions.update(id, { default_payment_method: card.id })
    const refused = await change(shop, { planId: 'pro', interval: 'year' })
    assert.equal(codeOf(refused), 'PAYMENT_FAILED')
    assert.match(refused.text, /POST \/v1\/billing\/portal.* cancel, and buy the plan after/)
    await shop.settled()
    assert.equal(shop.atStripe(id).pending_update, null)
    assert.deepEqual([(await shop.row())?.interval, netOf(shop)], ['month', 2900])
  })

  it('is refused while the subscription charges for requests over the cap', async () => {
    await shop.buy('pro')
    assert.equal((await shop.send('PATCH', SUBSCRIPTION, { overagesEnabled: true })).status, 200)
    const answer = await change(shop, { planId: 'pro', interval: 'year' })
    assert.equal(answer.status, 400)
    assert.match(answer.text, /interval: .*turn overages off/)
    assert.equal((await shop.row())?.plan, 'pro')
    await shop.send('PATCH', SUBSCRIPTION, { overagesEnabled: false })
    assert.equal((await change(shop, { planId: 'pro', interval: 'year' })).status, 200)
  })
})

describe('a second variable with the suffix _YEARLY', () => {
  it('leaves the price of the plan in the list of plans as it was', async () => {
    await using shop = await openYearlyShop()
    const { body } = await shop.app.send('GET', '/v1/billing/plans')
    const Plans = v.array(v.object({ id: v.string(), stripePriceId: v.nullable(v.string()) }))
    const pro = v.parse(Plans, body).find(({ id }) => id === 'pro')
    assert.equal(pro?.stripePriceId, shop.prices.pro)
  })
})
