import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Stripe from 'stripe'
import { OVERAGE_EVENT } from '../../stripe-double/plans.ts'
import { addPayer, DAY, startDouble } from './start.ts'

describe('meters', () => {
  it('bill usage with the renewal, late events of the first hour included', async () => {
    await using at = await startDouble()
    const { double, stripe, pro, overage } = at
    const customer = await addPayer(stripe)
    const items = [{ price: pro }, { price: overage }]
    await stripe.subscriptions.create({ customer, items })
    await report(stripe, { customer, value: 1_000, identifier: 'a' })
    double.advance(31 * DAY + 60)
    const timestamp = double.now() - 120
    await report(stripe, { customer, value: 500, identifier: 'b', timestamp })
    double.advance(3_600)
    const [renewal] = (await stripe.invoices.list({ customer })).data
    const [usage, advance] = renewal?.lines.data ?? []
    assert.equal(usage?.quantity, 1_500)
    assert.equal(usage?.amount, 150)
    assert.equal(advance?.amount, 2900)
    assert.equal(renewal?.amount_paid, 3_050)
  })

  it('refuse an identifier that was used: nothing is counted twice', async () => {
    await using at = await startDouble()
    const { double, stripe } = at
    const customer = await addPayer(stripe)
    const start = Math.floor(double.now() / 60) * 60
    await report(stripe, { customer, value: 7, identifier: 'same' })
    await assert.rejects(report(stripe, { customer, value: 7, identifier: 'same' }), (error) => {
      assert.ok(error instanceof Stripe.errors.StripeInvalidRequestError)
      assert.equal(error.statusCode, 400)
      assert.match(error.message, /An event already exists with identifier same/)
      return true
    })
    const [meter] = (await stripe.billing.meters.list()).data
    const summaries = await stripe.billing.meters.listEventSummaries(meter?.id ?? '', {
      customer,
      start_time: start,
      end_time: start + 3_600,
    })
    assert.equal(summaries.data[0]?.aggregated_value, 7)
  })

  it('refuse events that are too old, too new, of nobody or of no number', async () => {
    await using at = await startDouble()
    const { double, stripe } = at
    const customer = await addPayer(stripe)
    const now = double.now()
    const bad = [
      { customer, value: 1, timestamp: now - 36 * DAY },
      { customer, value: 1, timestamp: now + 301 },
      { customer: 'cus_none', value: 1 },
      { customer, value: Number.NaN },
    ]
    for (const event of bad) {
      await assert.rejects(report(stripe, { identifier: 'bad', ...event }), { statusCode: 400 })
    }
    await report(stripe, { customer, value: 1, identifier: 'bad' })
  })

  it('send usage of a removed item with the next invoice, and of an ended one at last', async () => {
    await using at = await startDouble()
    const { double, stripe, pro, overage } = at
    const customer = await addPayer(stripe)
    const { id } = await stripe.subscriptions.create({ customer, items: [{ price: pro }] })
    const item = await stripe.subscriptionItems.create({ subscription: id, price: overage })
    await report(stripe, { customer, value: 1_000, identifier: 'a' })
    double.advance(DAY)
    await stripe.subscriptionItems.del(item.id)
    double.advance(DAY)
    await stripe.subscriptionItems.create({ subscription: id, price: overage })
    await report(stripe, { customer, value: 200, identifier: 'b' })
    double.advance(60)
    await stripe.subscriptions.cancel(id)
    double.advance(3_600)
    const [last] = (await stripe.invoices.list({ customer })).data
    assert.equal(last?.amount_paid, 120)
  })
})

interface Report {
  readonly customer: string
  readonly value: number
  readonly identifier: string
  readonly timestamp?: number
}

function report(stripe: Stripe, { customer, value, ...rest }: Report) {
  const payload = { stripe_customer_id: customer, value: String(value) }
  return stripe.billing.meterEvents.create({ event_name: OVERAGE_EVENT, payload, ...rest })
}
