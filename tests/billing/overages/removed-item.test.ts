import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { recordingLog } from '../../support/helpers.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { DAY, methodOf, type Shop, SUBSCRIPTION } from '../shop.ts'
import { COST, invoicesOf, openWithUsage, UNITS } from './with-usage.ts'

const HOUR = 3_600

const turn = ({ send }: Shop, overagesEnabled: boolean) =>
  send('PATCH', SUBSCRIPTION, { overagesEnabled })

const itemsOf = ({ atStripe }: Shop, id: string) =>
  atStripe(id).items.data.map(({ price }) => price.id)

/*
 * "With billing_mode: flexible subscriptions, we create an invoice item that bills for previously reported
 * metered usage when you remove a metered price from a subscription. … If you want to remove a metered price
 * without billing for it, set proration_behavior to none":
 * https://docs.stripe.com/billing/subscriptions/usage-based/manage-billing-setup
 */
describe('the item of overages that are turned off', () => {
  const shop = freshly(() => openWithUsage({ sellsYearly: true }))

  it('is removed once the meter has its units, which are charged, and frees the interval', async () => {
    await shop.app.services.overages.reportAll(shop.userId)
    shop.pass(60)
    const early = await shop.send('PUT', SUBSCRIPTION, { planId: 'pro', interval: 'year' })
    assert.match(early.text, /interval: requests over the cap are charged by the month/)
    assert.equal((await turn(shop, false)).status, 200)
    assert.deepEqual(itemsOf(shop, shop.id), [shop.prices.pro])
    assert.deepEqual(invoicesOf(shop).at(-1), ['paid', COST, [UNITS]])
    shop.pass(29 * DAY)
    const yearly = await shop.send('PUT', SUBSCRIPTION, { planId: 'pro', interval: 'year' })
    assert.equal(yearly.status, 200, yearly.text)
    assert.equal((await shop.row())?.interval, 'year')
  })

  it('waits for units that Stripe has not added up, and is removed within the hour', async () => {
    assert.equal((await turn(shop, false)).status, 200)
    assert.equal(itemsOf(shop, shop.id).length, 2)
    shop.pass(HOUR)
    await shop.app.services.overages.removeUnusedItems()
    assert.deepEqual(itemsOf(shop, shop.id), [shop.prices.pro])
    assert.deepEqual(invoicesOf(shop).at(-1), ['paid', COST, [UNITS]])
  })

  it('waits for the invoice of its period, which still counts units', async () => {
    await shop.app.services.overages.reportAll(shop.userId)
    shop.pass(31 * DAY + 60)
    await shop.settled()
    await turn(shop, false)
    assert.equal(itemsOf(shop, shop.id).length, 2)
    shop.pass(HOUR)
    await shop.app.services.overages.removeUnusedItems()
    assert.deepEqual(itemsOf(shop, shop.id), [shop.prices.pro])
    assert.deepEqual(invoicesOf(shop).slice(1), [['paid', 2_900 + COST, [UNITS, 1]]])
  })

  it('waits for units that Stripe refuses', async () => {
    const [meter] = (await shop.stripe.billing.meters.list()).data
    await shop.stripe.billing.meters.deactivate(meter?.id ?? '')
    await turn(shop, false)
    await shop.stripe.billing.meters.reactivate(meter?.id ?? '')
    shop.pass(60)
    assert.equal(itemsOf(shop, shop.id).length, 2)
    await shop.app.services.overages.removeUnusedItems()
    shop.pass(60)
    await shop.app.services.overages.removeUnusedItems()
    assert.deepEqual(invoicesOf(shop).at(-1), ['paid', COST, [UNITS]])
  })

  it('leaves a debt that the next card pays if the card is declined', async () => {
    await shop.app.services.overages.reportAll(shop.userId)
    shop.pass(60)
    const customer = String(shop.atStripe(shop.id).customer)
    const good = methodOf(shop, shop.id)
    const bad = await shop.stripe.paymentMethods.attach('pm_card_chargeCustomerFail', { customer })
    await shop.stripe.customers.update(customer, {
      invoice_settings: { default_payment_method: bad.id },
    })
    assert.equal((await turn(shop, false)).status, 200)
    assert.deepEqual(invoicesOf(shop).at(-1), ['open', COST, [UNITS]])
    await shop.send('POST', '/v1/billing/payment-method', { paymentMethodId: good })
    assert.deepEqual(invoicesOf(shop).at(-1), ['paid', COST, [UNITS]])
    assert.equal((await shop.row())?.status, 'active')
  })
})

describe('units that the meter did not count', () => {
  it('are shown to the operator once the period is charged', async () => {
    const log = recordingLog()
    await using shop = await openWithUsage({ log })
    await shop.app.services.overages.reportAll(shop.userId)
    shop.pass(31 * DAY + HOUR)
    await shop.settled()
    const { reconciliation } = shop.app.services
    const said = () => log.events.filter(({ message }) => /^the meter of requests/.test(message))
    await reconciliation.run()
    shop.pass(HOUR + 60)
    await reconciliation.run()
    assert.deepEqual(said(), [])
    const { meterEvents } = shop.double.world.state
    const customer = String(shop.atStripe(shop.id).customer)
    const giveTo = (owner: string) => {
      for (const [id, event] of meterEvents) meterEvents.set(id, { ...event, customer: owner })
    }
    giveTo('cus_other')
    await reconciliation.run()
    const [line, ...more] = said()
    assert.deepEqual(more, [])
    const until = new Date(Number(shop.now()) - 2 * HOUR * 1000 - 60_000).toISOString()
    const detail = `${UNITS} requests over the cap were sent until ${until}, the meter has 0`
    assert.deepEqual(line?.fields, {
      kind: 'usage',
      count: 1,
      first: [{ user: shop.userId, customer, detail }],
    })
    shop.pass(5 * DAY)
    await reconciliation.run()
    assert.equal(said().length, 1)
    giveTo(customer)
  })
})
