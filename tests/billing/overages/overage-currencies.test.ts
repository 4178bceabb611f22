import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { addPrice, addProduct } from '../../../stripe-double/resources/catalog/prices.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { DAY, openShop, type Shop, SUBSCRIPTION } from '../shop.ts'
import { CAP, overagePlans } from './overages.ts'

const OVERAGES = '/v1/billing/overages'
const UNITS = 100

/** A subscriber who pays Pro in euros, where a request over the cap costs 0.09 cents in euros, 0.1 in dollars. */
async function openEuroShop(): Promise<Shop> {
  const sold = await openShop({ env: { MERIDIAN_PLANS: overagePlans() } })
  const { world } = sold.double
  const pro = addPrice(world, {
    product: addProduct(world, 'Pro').id,
    currency: 'usd',
    unit_amount: 2_900,
    currency_options: { eur: { unit_amount: 2_700 } },
    recurring: { interval: 'month' },
  })
  const { recurring } = await sold.stripe.prices.retrieve(sold.prices.overage)
  const overage = addPrice(world, {
    product: addProduct(world, 'Overage').id,
    currency: 'usd',
    unit_amount_decimal: 0.1,
    currency_options: { eur: { unit_amount_decimal: 0.09 } },
    recurring: { interval: 'month', usage_type: 'metered', meter: recurring?.meter ?? '' },
  })
  const env = { STRIPE_PRICE_PRO: pro.id, STRIPE_PRICE_OVERAGE: overage.id }
  const app = await sold.app.restart(env)
  await app.services.overages.refreshPrice()
  const send: Shop['send'] = (method, path, body) => app.send(method, path, { key: sold.key, body })
  const shop: Shop = {
    ...sold,
    app,
    send,
    async [Symbol.asyncDispose]() {
      await app.close()
      await sold[Symbol.asyncDispose]()
    },
  }
  await send('POST', SUBSCRIPTION, { planId: 'pro', currency: 'eur' })
  const [session] = shop.double.world.state.tables.sessions.values()
  shop.double.payCheckout(session?.id ?? '', { card: 'pm_card_visa' })
  await send('GET', `${SUBSCRIPTION}?refresh=true`)
  return shop
}

/* "currency_options: Prices defined in each available currency option": SDK, Price */
describe('overages of a subscription in another currency of their price', () => {
  const shop = freshly(openEuroShop)

  it('are shown, capped and charged in that currency', async () => {
    const shown = await shop.send('GET', OVERAGES)
    assert.match(shown.text, /"currency":"eur","unitPrice":"0\.09","spendingCap":8700,/)
    assert.equal((await shop.send('PATCH', SUBSCRIPTION, { overagesEnabled: true })).status, 200)
    await shop.send('PUT', OVERAGES, { spendingCap: 9 })
    for (let n = 0; n < CAP + UNITS + 10; n += 1) await shop.send('GET', '/v1/ip/81.2.69.160')
    await shop.app.services.overages.reportAll(shop.userId)
    shop.pass(31 * DAY + 7_200)
    const renewal = [...shop.double.world.state.tables.invoices.values()].at(-1)
    assert.deepEqual([renewal?.currency, renewal?.amount_paid], ['eur', 2_700 + 9])
    assert.deepEqual(
      renewal?.lines.data.map(({ quantity }) => quantity),
      [UNITS, 1],
    )
  })
})
