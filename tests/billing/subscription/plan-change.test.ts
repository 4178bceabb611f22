import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { ProrationPreview } from '../../../lib/contract/billing/billing-schemas.ts'
import { codeOf } from '../../support/helpers.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { auditOf, DAY, openShop, type Shop, SUBSCRIPTION } from '../shop.ts'

const HOUR = 3_600

async function preview(shop: Shop, planId: string) {
  const { body, text, status } = await shop.send('GET', `${SUBSCRIPTION}/preview?planId=${planId}`)
  assert.equal(status, 200, text)
  return v.parse(ProrationPreview, body)
}

const change = (shop: Shop, planId: string) => shop.send('PUT', SUBSCRIPTION, { planId })

const invoices = ({ double }: Shop) => [...double.world.state.tables.invoices.values()]

const Changed = v.object({ plan: v.object({ id: v.string() }) })

/** The share of a period of 31 days that is left after `days`. */
const left = (days: number) => (31 - days) / 31

describe('a change of the plan', () => {
  const shop = freshly(openShop)

  it('charges exactly what its preview showed, up to an hour later', async () => {
    await shop.buy('starter')
    shop.pass(10 * DAY)
    const shown = await preview(shop, 'pro')
    const due = Math.round(2900 * left(10)) - Math.round(900 * left(10))
    assert.equal(shown.amountDue, due)
    assert.equal(shown.currency, 'usd')
    assert.equal(shown.prorationDate, '2026-01-25T12:00:00.000Z')
    assert.deepEqual(
      shown.lines.map(({ amount }) => amount),
      [-Math.round(900 * left(10)), Math.round(2900 * left(10))],
    )
    shop.pass(HOUR)
    const { status, body } = await change(shop, 'pro')
    assert.equal(status, 200)
    assert.equal(v.parse(Changed, body).plan.id, 'pro')
    const [charged] = invoices(shop).slice(-1)
    assert.equal(charged?.amount_paid, due)
    assert.equal(charged.status, 'paid')
    await shop.settled()
    assert.deepEqual((await auditOf(shop)).at(-1), {
      app: 'api',
      action: 'change_plan',
      detail: 'starter to pro',
    })
  })

  it('ignores a preview of another plan, one older than an hour, and one that was used', async () => {
    await shop.buy('starter')
    shop.pass(10 * DAY)
    const { amountDue } = await preview(shop, 'pro')
    shop.pass(HOUR + 1)
    await change(shop, 'pro')
    const fresh = invoices(shop).at(-1)?.amount_paid ?? 0
    assert.ok(fresh > 0 && fresh < amountDue)
    const shownAt = shop.now()
    await preview(shop, 'starter')
    shop.pass(HOUR / 2)
    for (const planId of ['starter', 'pro', 'starter']) {
      shop.pass(60)
      await change(shop, planId)
    }
    const dates = shop.double
      .calls()
      .filter(
        ({ path, body }) => /^\/v1\/subscriptions\//.test(path) && /proration_date/.test(body),
      )
      .map(({ body }) => Number(new URLSearchParams(body).get('proration_date')) * 1000 - shownAt)
    const half = (HOUR / 2) * 1000
    assert.deepEqual(dates, [0, 0, half + 120_000, half + 180_000])
  })

  it('ignores a preview of the previous period', async () => {
    await shop.buy('starter')
    shop.pass(31 * DAY - 10)
    await preview(shop, 'pro')
    shop.pass(20)
    await shop.settled()
    assert.equal((await change(shop, 'pro')).status, 200)
    assert.equal(invoices(shop).at(-1)?.amount_paid, 2000)
  })

  it('to a smaller plan costs nothing now and leaves a credit', async () => {
    await using shop = await openShop()
    await shop.buy('pro')
    shop.pass(10 * DAY)
    assert.equal((await preview(shop, 'starter')).amountDue, 0)
    assert.equal((await change(shop, 'starter')).status, 200)
    const [customer] = [...shop.double.world.state.tables.customers.values()]
    assert.equal(customer?.balance, Math.round(900 * left(10)) - Math.round(2900 * left(10)))
    assert.equal((await shop.row())?.plan, 'starter')
  })

  it('to the current plan costs nothing and changes nothing', async () => {
    const { id } = await shop.buy('pro')
    const before = shop.atStripe(id)
    assert.deepEqual(await preview(shop, 'pro'), {
      planId: 'pro',
      currency: 'usd',
      amountDue: 0,
      prorationDate: '2026-01-15T12:00:00.000Z',
      lines: [],
    })
    shop.newCalls()
    const { status, body } = await change(shop, 'pro')
    assert.equal(status, 200)
    assert.deepEqual(body, (await shop.send('GET', SUBSCRIPTION)).body)
    assert.equal(
      shop.newCalls().some((call) => call.startsWith('POST')),
      false,
    )
    assert.deepEqual(shop.atStripe(id), before)
  })

  it('is 400 and changes nothing if the card is declined', async () => {
    const { id } = await shop.buy('starter')
    shop.pass(DAY)
    const customer = String(shop.atStripe(id).customer)
    const { id: method } = await shop.stripe.paymentMethods.attach('pm_card_chargeCustomerFail', {
      customer,
    })
    await shop.stripe.subscriptions.update(id, { default_payment_method: method })
    await shop.settled()
    const before = { items: shop.atStripe(id).items, row: await shop.row() }
    const answer = await change(shop, 'pro')
    assert.equal(answer.status, 400)
    assert.equal(codeOf(answer), 'PAYMENT_FAILED')
    assert.deepEqual(shop.atStripe(id).items, before.items)
    assert.deepEqual(await shop.row(), before.row)
    assert.equal(
      (await auditOf(shop)).some(({ action }) => action === 'change_plan'),
      false,
    )
  })

  it('turns overages off if the new plan has none', async () => {
    const { id } = await shop.buy('pro')
    await shop.stripe.subscriptions.update(id, { metadata: { meridian_overages: 'on' } })
    const items = [{ price: shop.prices.overage }]
    await shop.stripe.subscriptions.update(id, { items })
    await shop.settled()
    assert.equal((await shop.row())?.overages, true)
    await change(shop, 'starter')
    assert.equal((await shop.row())?.overages, false)
    assert.equal(shop.atStripe(id).metadata['meridian_overages'], 'off')
    await change(shop, 'pro')
    assert.equal((await shop.row())?.overages, false)
  })

  it('is 400 for an unknown plan, and for the free plan with advice to cancel', async () => {
    await shop.buy('pro')
    shop.newCalls()
    for (const planId of ['free', 'gold']) {
      const answer = await change(shop, planId)
      assert.equal(codeOf(answer), 'BAD_REQUEST')
      assert.equal(/cancel the subscription/.test(answer.text), planId === 'free')
      const shown = await shop.send('GET', `${SUBSCRIPTION}/preview?planId=${planId}`)
      assert.equal(codeOf(shown), 'BAD_REQUEST')
    }
    assert.deepEqual(shop.newCalls(), [])
  })
})
