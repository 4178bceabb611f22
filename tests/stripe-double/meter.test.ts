import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Stripe from 'stripe'
import { OVERAGE_EVENT } from '../../stripe-double/plans.ts'
import { freshly } from '../support/scene/freshly.ts'
import { addPayer, DAY, startDouble } from './start.ts'

describe('meters', () => {
  const at = freshly(startDouble)

  it('bill usage with the renewal, including events that arrive up to an hour late', async () => {
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

  it('refuse an identifier that was used before, so that nothing is counted twice', async () => {
    const { double, stripe, overage } = at
    const customer = await addPayer(stripe)
    const start = Math.floor(double.now() / 60) * 60
    await report(stripe, { customer, value: 7, identifier: 'same' })
    await assert.rejects(report(stripe, { customer, value: 7, identifier: 'same' }), (error) => {
      assert.ok(error instanceof Stripe.errors.StripeInvalidRequestError)
      assert.equal(error.statusCode, 400)
      assert.equal(error.code, 'duplicate_meter_event')
      return true
    })
    double.advance(60)
    const { recurring } = await stripe.prices.retrieve(overage)
    const summaries = await stripe.billing.meters.listEventSummaries(recurring?.meter ?? '', {
      customer,
      start_time: start,
      end_time: start + 3_600,
    })
    assert.equal(summaries.data[0]?.aggregated_value, 7)
  })

  /* The errors that Stripe's OpenAPI document lists for the call: none is about an unknown customer. */
  it('refuse events that are too old or too far ahead, or have no meter or no number', async () => {
    const { double, stripe } = at
    const customer = await addPayer(stripe)
    const now = double.now()
    const bad = [
      { customer, value: 1, timestamp: now - 36 * DAY },
      { customer, value: 1, timestamp: now + 301 },
      { customer, value: Number.NaN },
    ]
    for (const event of bad) {
      await assert.rejects(report(stripe, { identifier: 'bad', ...event }), { statusCode: 400 })
    }
    await report(stripe, { customer: 'cus_none', value: 1, identifier: 'never counted' })
    await report(stripe, { customer, value: 1, identifier: 'bad' })
    const [meter] = (await stripe.billing.meters.list()).data
    await stripe.billing.meters.deactivate(meter?.id ?? '')
    const late = report(stripe, { customer, value: 1, identifier: 'late' })
    await assert.rejects(late, { code: 'archived_meter' })
  })

  it('bill the usage of a canceled subscription only with `invoice_now`, and do not collect it', async () => {
    const { double, stripe, pro, overage } = at
    const customer = await addPayer(stripe)
    const { id } = await stripe.subscriptions.create({ customer, items: [{ price: pro }] })
    await report(stripe, { customer, value: 1_000, identifier: 'before the item' })
    double.advance(DAY)
    await stripe.subscriptions.update(id, { items: [{ price: overage }] })
    await report(stripe, { customer, value: 200, identifier: 'since' })
    double.advance(60)
    await stripe.subscriptions.cancel(id, { invoice_now: true })
    double.advance(7 * DAY)
    const [last] = (await stripe.invoices.list({ customer })).data
    assert.deepEqual([last?.status, last?.auto_advance, last?.amount_due], ['draft', false, 20])
    await stripe.invoices.update(last?.id ?? '', { auto_advance: true })
    double.advance(3_600)
    assert.equal((await stripe.invoices.list({ customer })).data[0]?.amount_paid, 20)
  })

  it('bill the usage with a pending update, and discard it when that expires', async () => {
    const { double, stripe, starter, pro, overage } = at
    const customer = await addPayer(stripe)
    const { id, items } = await stripe.subscriptions.create({
      customer,
      items: [{ price: starter }, { price: overage }],
    })
    await report(stripe, { customer, value: 1_000, identifier: 'pending' })
    double.advance(60)
    const asks = await stripe.paymentMethods.attach('pm_card_authenticationRequired', { customer })
    await stripe.subscriptions.update(id, { default_payment_method: asks.id })
    await stripe.subscriptions.update(id, {
      items: [{ id: items.data[0]?.id ?? '', price: pro }],
      proration_behavior: 'always_invoice',
      payment_behavior: 'pending_if_incomplete',
    })
    const [pending] = (await stripe.invoices.list({ customer })).data
    assert.equal(pending?.lines.data.find(({ quantity }) => quantity === 1_000)?.amount, 100)
    double.advance(31 * DAY + 3_600)
    const [renewal] = (await stripe.invoices.list({ customer })).data
    assert.equal(renewal?.amount_due, 900)
  })

  it('discard the usage of a subscription that is canceled at once', async () => {
    const { double, stripe, pro, overage } = at
    const customer = await addPayer(stripe)
    const items = [{ price: pro }, { price: overage }]
    const { id } = await stripe.subscriptions.create({ customer, items })
    await report(stripe, { customer, value: 200, identifier: 'lost' })
    double.advance(60)
    await stripe.subscriptions.cancel(id)
    assert.equal((await stripe.invoices.list({ customer })).data.length, 1)
  })
})

interface Report {
  readonly customer: string
  readonly value: number
  readonly identifier: string
  readonly timestamp?: number
}

function report(stripe: Stripe, { customer, value, timestamp, ...rest }: Report) {
  const payload = { stripe_customer_id: customer, value: String(value) }
  return stripe.v2.billing.meterEvents.create({
    event_name: OVERAGE_EVENT,
    payload,
    ...rest,
    ...(timestamp !== undefined && { timestamp: new Date(timestamp * 1000).toISOString() }),
  })
}
