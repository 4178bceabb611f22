import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { monthOf } from '../../../lib/config/period.ts'
import { toCapShares } from '../../../lib/contract/account/cap-shares.ts'
import { ProrationPreview } from '../../../lib/contract/billing/billing-schemas.ts'
import { codeOf } from '../../support/helpers.ts'
import { plansFileOf } from '../../support/plans-file.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { DAY, netOf, openShop, type Shop, SUBSCRIPTION, use } from '../shop.ts'

async function preview(shop: Shop, planId: string) {
  const { body, text } = await shop.send('GET', `${SUBSCRIPTION}/preview?planId=${planId}`)
  return v.parse(ProrationPreview, body, { message: text })
}

const change = async (shop: Shop, planId: string) => {
  const { status, text } = await shop.send('PUT', SUBSCRIPTION, { planId })
  assert.equal(status, 200, text)
}

/*
 * Pro has 100,000 requests for 2900 cents, Starter 25,000 for 900: 75,000 more for 2000.
 */
describe('a downgrade after more requests than the smaller plan has', () => {
  const shop = freshly(openShop)

  it('within seconds of the upgrade credits nothing for what was used', async () => {
    await shop.buy('starter')
    await change(shop, 'pro')
    await use(shop, 100_000)
    await change(shop, 'starter')
    assert.equal(netOf(shop), 2900)
  })

  it('credits the share of the additional requests that is left', async () => {
    await shop.buy('pro')
    // 45,000 of 75,000 are used: 40 % of the time, and of 2000 cents, is credited.
    await use(shop, 70_000)
    await change(shop, 'starter')
    assert.equal(netOf(shop), 2100)
  })

  it('credits the time that is left if that is less', async () => {
    await shop.buy('pro')
    await use(shop, 32_500)
    shop.pass(15.5 * DAY)
    // A tenth of the requests, but half of the time.
    await change(shop, 'starter')
    assert.equal(netOf(shop), 1900)
  })

  it('compares with the time that the larger plan was charged for', async () => {
    await shop.buy('starter')
    shop.pass(15.5 * DAY)
    await change(shop, 'pro')
    assert.equal(netOf(shop), 1900)
    // Half of the additional requests: half of 1000 cents stays paid.
    await use(shop, 62_500)
    await change(shop, 'starter')
    assert.equal(netOf(shop), 1400)
    // The larger plan again is charged from where its charge ended.
    await change(shop, 'pro')
    assert.equal(netOf(shop), 1900)
  })

  it('credits the same each time when nothing is used in between', async () => {
    await shop.buy('pro')
    await use(shop, 62_500)
    const net: number[] = []
    for (const plan of ['starter', 'pro', 'starter', 'pro', 'starter', 'pro', 'starter']) {
      await change(shop, plan)
      net.push(netOf(shop))
    }
    assert.deepEqual(net, [1900, 2900, 1900, 2900, 1900, 2900, 1900])
  })

  it('says so in the preview, whose amounts are those of the charge', async () => {
    await using shop = await openShop()
    await shop.buy('pro')
    await use(shop, 70_000)
    const { lines, prorationDate, amountDue } = await preview(shop, 'starter')
    assert.equal(amountDue, 0)
    // 60 % of the 31 days from 15 January at noon.
    assert.equal(prorationDate, '2026-02-03T02:24:00.000Z')
    assert.deepEqual(lines, [
      { description: 'Unused time on Meridian Pro', amount: -1160 },
      { description: 'Remaining time on Meridian Starter', amount: 360 },
      {
        description: 'Not credited: 45,000 of the 75,000 additional requests of Pro are used',
        amount: 0,
      },
    ])
    shop.pass(1800)
    await change(shop, 'starter')
    const invoice = [...shop.double.world.state.tables.invoices.values()].at(-1)
    assert.deepEqual(
      invoice?.lines.data.map(({ description, amount }) => ({ description, amount })),
      lines.slice(0, 2),
    )
  })

  it('counts requests that were used after the preview', async () => {
    await shop.buy('pro')
    const { lines } = await preview(shop, 'starter')
    assert.deepEqual(
      lines.map(({ amount }) => amount),
      [-2900, 900],
    )
    await use(shop, 100_000)
    await change(shop, 'starter')
    assert.equal(netOf(shop), 2900)
  })

  it('starts anew with each period', async () => {
    await shop.buy('pro')
    await use(shop, 100_000)
    await change(shop, 'starter')
    shop.pass(31 * DAY + 3_600)
    await shop.settled()
    const before = netOf(shop)
    assert.equal(before, 2900 + 900)
    await change(shop, 'pro')
    await change(shop, 'starter')
    assert.ok(Math.abs(netOf(shop) - before) <= 1)
  })

  it('ignores requests of the time before the subscription', async () => {
    const { meters, plans } = shop.app.services
    const caller = {
      userId: shop.userId,
      plan: plans.free,
      paid: null,
      capShares: toCapShares(null),
      key: null,
    }
    assert.ok(monthOf(shop.now()).start < shop.now())
    meters.open(caller, shop.now()).count(90_000)
    await shop.buy('pro')
    await change(shop, 'starter')
    assert.equal(netOf(shop), 900)
  })

  it('names the plan from which a third can be chosen at once', async () => {
    const limits = { maxKeys: 5, maxSites: 1, requestsPerMinute: 100 }
    const plans = [
      { id: 'starter', name: 'Starter', ...limits, price: 9, monthlyCap: 25_000 },
      { id: 'pro', name: 'Pro', ...limits, price: 29, monthlyCap: 100_000 },
      { id: 'big', name: 'Big', ...limits, price: 99, monthlyCap: 300_000 },
    ]
    const env = { MERIDIAN_PLANS: plansFileOf(plans), STRIPE_PRICE_BIG: 'price_big' }
    await using shop = await openShop({ env })
    await shop.buy('pro')
    await use(shop, 100_000)
    await change(shop, 'starter')
    const third = await shop.send('PUT', SUBSCRIPTION, { planId: 'big' })
    assert.equal(codeOf(third), 'BAD_REQUEST')
    assert.match(
      third.text,
      /until 2026-02-15T11:59:59\.000Z: .* after that, or first change to pro/,
    )
  })
})
