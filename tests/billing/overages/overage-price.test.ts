import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Stripe from 'stripe'
import { DAY_MS } from '../../../lib/parts/durations.ts'
import { readRows } from '../../support/database/sql.ts'
import { codeOf } from '../../support/helpers.ts'
import {
  meteredUnits,
  type OverageShop,
  openOverageShop,
  openShopOverCap,
  setOverages,
  subscribe,
} from './overages.ts'

const reads = ({ double }: OverageShop, price: string) =>
  double.calls().filter(({ path }) => path.startsWith(`/v1/prices/${price}?`)).length

const price = ({ app }: OverageShop) =>
  readRows(app, 'SELECT id, currency, unit_amount FROM overage_prices')

describe('the price of overages', () => {
  it('is read once, again after a day, and not by requests', async () => {
    await using at = await openShopOverCap()
    const { refreshPrice } = at.app.services.overages
    await at.ask(3)
    await refreshPrice()
    assert.equal(reads(at, at.overage), 1)
    assert.deepEqual(await price(at), [[at.overage, 'usd', '0.1']])
    at.pass(DAY_MS)
    await refreshPrice()
    await refreshPrice()
    assert.equal(reads(at, at.overage), 2)
  })

  it('is read again when the setting names another, and until then nothing is charged', async () => {
    await using at = await openShopOverCap()
    const other = await at.stripe.prices.create({
      currency: 'eur',
      unit_amount_decimal: Stripe.Decimal.from('0.05'),
      product_data: { name: 'Overage' },
      recurring: { interval: 'month', usage_type: 'metered', meter: await meterOf(at) },
    })
    const app = await at.app.restart({ STRIPE_PRICE_OVERAGE: other.id })
    const { key } = at
    const answer = await app.send('GET', '/v1/billing/overages', { key })
    assert.equal(codeOf(answer), 'BILLING_UNAVAILABLE')
    await app.send('GET', '/v1/ip/81.2.69.160', { key })
    await app.services.overages.reportAll(at.userId)
    assert.equal(meteredUnits(at, at.customer), 0)
    await app.services.overages.refreshPrice()
    assert.deepEqual(await price({ ...at, app }), [[other.id, 'eur', '0.05']])
    const shown = await app.send('GET', '/v1/billing/overages', { key })
    assert.match(shown.text, /"currency":"eur","unitPrice":"0\.05","spendingCap":8700,/)
    // The subscription is paid in dollars: it keeps what it has, but cannot begin anew.
    assert.equal((await setOverages(app, key, false)).status, 200)
    assert.equal(codeOf(await setOverages(app, key, true)), 'BILLING_NOT_CONFIGURED')
    const later = await app.send('GET', '/v1/billing/overages', { key })
    assert.equal(codeOf(later), 'BILLING_NOT_CONFIGURED')
    assert.match(later.text, /Overages have no price in usd/)
    await app.close()
  })

  it('is kept while Stripe does not answer', async () => {
    await using at = await openShopOverCap()
    at.pass(DAY_MS)
    at.double.failCalls({ kind: '500' }, 2)
    await assert.rejects(at.app.services.overages.refreshPrice(), { code: 'BILLING_UNAVAILABLE' })
    at.double.clearFaults()
    await at.ask(2)
    await at.overages.reportAll(at.userId)
    assert.equal(meteredUnits(at, at.customer), 2)
  })

  for (const [name, change] of [
    ['in tiers', { billing_scheme: 'tiered', unit_amount_decimal: null }],
    ['per package', { transform_quantity: { divide_by: 1000, round: 'up' } }],
  ] as const) {
    it(`is refused if it is ${name}: nobody can agree to it, and nothing is charged`, async () => {
      await using at = await openOverageShop()
      const { key } = await subscribe(at)
      const row = at.double.world.state.tables.prices.get(at.overage)
      assert.ok(row)
      Object.assign(row, change)
      at.pass(DAY_MS)
      const { refreshPrice } = at.app.services.overages
      await assert.rejects(refreshPrice(), { code: 'BILLING_NOT_CONFIGURED' })
      assert.deepEqual(await price(at), [])
      assert.equal(codeOf(await setOverages(at.app, key, true)), 'BILLING_NOT_CONFIGURED')
    })
  }
})

async function meterOf({ stripe, overage }: OverageShop): Promise<string> {
  return (await stripe.prices.retrieve(overage)).recurring?.meter ?? ''
}
