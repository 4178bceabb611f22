import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type Stripe from 'stripe'
import { freshly } from '../support/scene/freshly.ts'
import { addPayer, DAY, NOW, startDouble, typesOf } from './start.ts'

describe('a subscription', () => {
  const at = freshly(startDouble)

  it('starts at checkout, is upgraded and ends after its cancellation', async () => {
    const { double, stripe, starter, pro } = at
    const customer = (await stripe.customers.create({ email: 'ada@example.com' })).id
    const session = await stripe.checkout.sessions.create({
      mode: 'subscription',
      customer,
      client_reference_id: 'user-1',
      line_items: [{ price: starter, quantity: 1 }],
      success_url: 'https://app.example/done?session={CHECKOUT_SESSION_ID}',
      cancel_url: 'https://app.example/plans',
      subscription_data: { metadata: { user: 'user-1' } },
    })
    assert.equal(session.status, 'open')

    const paid = await payOnPage(session.url ?? '', '4242 4242 4242 4242')
    assert.equal(paid.status, 303)
    assert.equal(paid.headers.get('location'), `https://app.example/done?session=${session.id}`)

    const done = await stripe.checkout.sessions.retrieve(session.id, { expand: ['subscription'] })
    assert.equal(done.status, 'complete')
    assert.equal(done.payment_status, 'paid')
    assert.equal(done.url, null)
    const bought = expanded(done.subscription)
    assert.equal(bought.status, 'active')
    assert.deepEqual(bought.metadata, { user: 'user-1' })
    const [item] = bought.items.data
    assert.equal(item?.current_period_start, NOW / 1000)
    assert.equal(item?.current_period_end, Date.UTC(2026, 1, 15, 12) / 1000)
    assert.equal('current_period_end' in bought, false)

    double.advance(10 * DAY)
    const items = [{ id: item?.id ?? '', price: pro }]
    const change = {
      proration_behavior: 'always_invoice',
      proration_date: double.now(),
    } as const
    const preview = await stripe.invoices.createPreview({
      subscription: bought.id,
      subscription_details: { items, ...change },
    })
    const share = 21 / 31
    assert.equal(preview.amount_due, Math.round(2900 * share) - Math.round(900 * share))
    assert.deepEqual(
      preview.lines.data.map((line) => line.parent?.subscription_item_details?.proration),
      [true, true],
    )
    double.advance(90)
    const upgraded = await stripe.subscriptions.update(bought.id, {
      items,
      ...change,
      expand: ['latest_invoice'],
    })
    const charged = upgraded.latest_invoice as Stripe.Invoice // safe: it is expanded
    assert.equal(charged.amount_paid, preview.amount_due)
    assert.equal(charged.status, 'paid')
    assert.equal(charged.billing_reason, 'subscription_update')
    assert.equal(upgraded.items.data[0]?.price.id, pro)
    assert.equal(upgraded.items.data[0]?.current_period_end, item?.current_period_end)

    const end = item?.current_period_end ?? 0
    const canceling = await stripe.subscriptions.update(bought.id, { cancel_at_period_end: true })
    assert.equal(canceling.status, 'active')
    assert.equal(canceling.cancel_at, end)
    assert.equal(canceling.canceled_at, double.now())
    const back = await stripe.subscriptions.update(bought.id, { cancel_at_period_end: false })
    assert.equal(back.cancel_at, null)
    assert.equal(back.canceled_at, null)

    await stripe.subscriptions.update(bought.id, { cancel_at_period_end: true })
    double.advance(31 * DAY)
    const ended = await stripe.subscriptions.retrieve(bought.id)
    assert.equal(ended.status, 'canceled')
    assert.equal(ended.ended_at, end)
    const list = await stripe.subscriptions.list({ customer })
    assert.deepEqual(list.data, [])
    await double.settled()
    const types = typesOf(at.received)
    assert.ok(types.includes('checkout.session.completed'))
    assert.equal(types.at(-1), 'customer.subscription.deleted')
  })

  it('renews at the end of the period and charges an hour later', async () => {
    const { double, stripe, pro } = at
    const customer = await addPayer(stripe)
    const { id } = await stripe.subscriptions.create({ customer, items: [{ price: pro }] })
    double.advance(31 * DAY + 60)
    const [draft] = (await stripe.invoices.list({ customer })).data
    assert.equal(draft?.status, 'draft')
    assert.equal(draft?.billing_reason, 'subscription_cycle')
    double.advance(3_600)
    const [renewal, first] = (await stripe.invoices.list({ customer })).data
    assert.equal(renewal?.status, 'paid')
    assert.equal(renewal?.amount_paid, 2900)
    assert.match(renewal?.number ?? '', /-0002$/)
    assert.match(first?.number ?? '', /-0001$/)
    const [item] = (await stripe.subscriptions.retrieve(id)).items.data
    assert.equal(item?.current_period_start, Date.UTC(2026, 1, 15, 12) / 1000)
    assert.equal(item?.current_period_end, Date.UTC(2026, 2, 15, 12) / 1000)
  })

  it('credits a downgrade to the customer and deducts it from later invoices', async () => {
    const { double, stripe, starter, pro } = at
    const customer = await addPayer(stripe)
    const made = await stripe.subscriptions.create({ customer, items: [{ price: pro }] })
    const items = [{ id: made.items.data[0]?.id ?? '', price: starter }]
    const change = { items, proration_behavior: 'always_invoice' } as const
    const preview = await stripe.invoices.createPreview({
      subscription: made.id,
      subscription_details: change,
    })
    assert.equal(preview.amount_due, 0)
    assert.equal(preview.total, -2000)
    await stripe.subscriptions.update(made.id, change)
    const { balance } = await getCustomer(stripe, customer)
    assert.equal(balance, -2000)
    double.advance(31 * DAY + 3_600)
    const [renewal] = (await stripe.invoices.list({ customer })).data
    assert.equal(renewal?.total, 900)
    assert.equal(renewal?.amount_due, 0)
    assert.equal((await getCustomer(stripe, customer)).balance, -1100)
  })

  it('keeps prorations for the next invoice without always_invoice', async () => {
    const { double, stripe, starter, pro } = at
    const customer = await addPayer(stripe)
    const made = await stripe.subscriptions.create({ customer, items: [{ price: starter }] })
    const items = [{ id: made.items.data[0]?.id ?? '', price: pro }]
    await stripe.subscriptions.update(made.id, { items })
    assert.equal((await stripe.invoices.list({ customer })).data.length, 1)
    double.advance(31 * DAY + 3_600)
    const [renewal] = (await stripe.invoices.list({ customer })).data
    assert.equal(renewal?.amount_paid, 2000 + 2900)
  })
})

function payOnPage(url: string, card: string): Promise<Response> {
  return fetch(url, { method: 'POST', body: new URLSearchParams({ card }), redirect: 'manual' })
}

function expanded(subscription: string | Stripe.Subscription | null): Stripe.Subscription {
  assert.ok(subscription !== null && typeof subscription === 'object')
  return subscription
}

async function getCustomer(stripe: Stripe, id: string): Promise<Stripe.Customer> {
  const customer = await stripe.customers.retrieve(id)
  assert.ok(!customer.deleted)
  return customer
}
