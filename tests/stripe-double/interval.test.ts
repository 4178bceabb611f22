import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type Stripe from 'stripe'
import { freshly } from '../support/scene/freshly.ts'
import { addPayer, DAY, NOW, startDouble } from './start.ts'

type Started = Awaited<ReturnType<typeof startDouble>>

async function addYearly({ stripe }: Started): Promise<string> {
  const { id } = await stripe.prices.create({
    currency: 'usd',
    unit_amount: 29_000,
    currency_options: { eur: { unit_amount: 27_000 } },
    recurring: { interval: 'year' },
    product_data: { name: 'Pro' },
  })
  return id
}

const periodOf = ({ items: { data } }: Stripe.Subscription) => {
  const [item] = data
  return [item?.current_period_start, item?.current_period_end]
}

const START = NOW / 1000

const at = freshly(startDouble)

describe('a change of the interval', () => {
  it('begins a period now, charges it in full and credits what is left of the old one', async () => {
    const { stripe, pro, double } = at
    const yearly = await addYearly(at)
    const customer = await addPayer(stripe)
    const { id, items } = await stripe.subscriptions.create({ customer, items: [{ price: pro }] })
    double.advance(10 * DAY)
    const change = {
      items: [{ id: items.data[0]?.id ?? '', price: yearly }],
      proration_behavior: 'always_invoice' as const,
      billing_cycle_anchor: { type: 'now' as const },
    }
    const preview = await stripe.invoices.createPreview({
      subscription: id,
      subscription_details: change,
    })
    const after = await stripe.subscriptions.update(id, change)
    const now = START + 10 * DAY
    assert.equal(after.billing_cycle_anchor, now)
    assert.deepEqual(periodOf(after), [now, now + 365 * DAY])
    const { data } = await stripe.invoices.list({ customer })
    const due = 29_000 - Math.round((2900 * 21) / 31)
    assert.deepEqual([preview.amount_due, data[0]?.amount_paid], [due, due])
    assert.equal(data[0]?.lines.data.at(-1)?.description, '1 × Pro')
  })

  it('is refused if another item keeps its own', async () => {
    const { stripe, pro, overage } = at
    const price = await addYearly(at)
    const customer = await addPayer(stripe)
    const { id, items } = await stripe.subscriptions.create({
      customer,
      items: [{ price: pro }, { price: overage }],
    })
    const change = { items: [{ id: items.data[0]?.id ?? '', price }] }
    await assert.rejects(stripe.subscriptions.update(id, change), /different intervals/)
  })
})

describe('a trial', () => {
  const trial = (customer: string, price: string) => ({
    ...{ customer, items: [{ price }], trial_period_days: 14 },
  })

  it('costs nothing, and the first period begins at its end', async () => {
    const { stripe, pro, double } = at
    const customer = await addPayer(stripe)
    const { id, ...begun } = await stripe.subscriptions.create(trial(customer, pro))
    const end = START + 14 * DAY
    assert.deepEqual([begun.status, begun.trial_start, begun.trial_end], ['trialing', START, end])
    assert.equal(begun.billing_cycle_anchor, end)
    double.advance(14 * DAY + 2 * 3_600)
    const after = await stripe.subscriptions.retrieve(id)
    assert.equal(after.status, 'active')
    // From 29 January to the last day of February.
    assert.deepEqual(periodOf(after), [end, end + 30 * DAY])
    const { data } = await stripe.invoices.list({ customer })
    assert.deepEqual(
      data.map(({ amount_paid }) => amount_paid),
      [2900, 0],
    )
  })

  it('that is cancelled ends without a charge', async () => {
    const { stripe, pro, double } = at
    const customer = await addPayer(stripe)
    const { id } = await stripe.subscriptions.create(trial(customer, pro))
    await stripe.subscriptions.update(id, { cancel_at_period_end: true })
    double.advance(20 * DAY)
    assert.equal((await stripe.subscriptions.retrieve(id)).status, 'canceled')
    assert.equal((await stripe.invoices.list({ customer })).data.length, 1)
  })
})

describe('a price in several currencies', () => {
  it('shows them only if they are expanded, with its own among them', async () => {
    const id = await addYearly(at)
    assert.equal((await at.stripe.prices.retrieve(id)).currency_options, undefined)
    const { currency_options: options = {} } = await at.stripe.prices.retrieve(id, {
      expand: ['currency_options'],
    })
    const amounts = Object.entries(options).map(([name, { unit_amount }]) => [name, unit_amount])
    assert.deepEqual(Object.fromEntries(amounts), { usd: 29_000, eur: 27_000 })
  })

  it('is charged in the chosen one, which the customer then keeps', async () => {
    const { stripe, pro } = at
    const price = await addYearly(at)
    const customer = await addPayer(stripe)
    const params = { customer, items: [{ price }] }
    const { currency } = await stripe.subscriptions.create({ ...params, currency: 'eur' })
    assert.equal(currency, 'eur')
    const { data } = await stripe.invoices.list({ customer })
    assert.deepEqual([data[0]?.currency, data[0]?.amount_paid], ['eur', 27_000])
    assert.equal((await stripe.subscriptions.create(params)).currency, 'eur')
    const again = stripe.subscriptions.create({ ...params, currency: 'usd' })
    await assert.rejects(again, /cannot combine currencies/)
    const other = stripe.subscriptions.create({ customer, items: [{ price: pro }] })
    await assert.rejects(other, /only supports `usd`/)
  })
})
