import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Stripe from 'stripe'
import { freshly } from '../support/scene/freshly.ts'
import { addPayer, DAY, startDouble, typesOf } from './start.ts'

const ASKS = 'pm_card_authenticationRequired'
const ASKS_ONCE = 'pm_card_authenticationRequiredOnSetup'

type Double = Awaited<ReturnType<typeof startDouble>>

/** Answers the question of the bank on the page of the invoice. Returns the status of the page. */
async function confirm(url: string | null | undefined, authentication = 'confirmed', card = '') {
  const body = new URLSearchParams({ authentication, card })
  return (await fetch(url ?? '', { method: 'POST', body, redirect: 'manual' })).status
}

async function subscribe({ stripe, starter }: Double, card = 'pm_card_visa') {
  const customer = await addPayer(stripe)
  const made = await stripe.subscriptions.create({ customer, items: [{ price: starter }] })
  const { id: method } = await stripe.paymentMethods.attach(card, { customer })
  await stripe.customers.update(customer, { invoice_settings: { default_payment_method: method } })
  return { customer, id: made.id, item: made.items.data[0]?.id ?? '' }
}

/** Opens a payment page for Pro. `pay` submits its form. */
async function openCheckout(
  { stripe, pro }: Double,
  subscription_data: Stripe.Checkout.SessionCreateParams.SubscriptionData = {},
) {
  const { id: customer } = await stripe.customers.create()
  const { id, url } = await stripe.checkout.sessions.create({
    mode: 'subscription',
    customer,
    line_items: [{ price: pro, quantity: 1 }],
    subscription_data,
    success_url: 'https://app.example/done',
  })
  const pay = (fields: Record<string, string>) => {
    const body = new URLSearchParams(fields)
    return fetch(url ?? '', { method: 'POST', body, redirect: 'manual' })
  }
  return { id, customer, pay }
}

const isActionRequired = (object: string) => (error: unknown) =>
  error instanceof Stripe.errors.StripeCardError &&
  error.statusCode === 402 &&
  error.code === `${object}_payment_intent_requires_action`

const at = freshly(startDouble)

describe('a card whose bank asks for confirmation', () => {
  it('leaves a first invoice open until the customer confirms on its page', async () => {
    const { stripe, pro, double } = at
    const customer = await addPayer(stripe, ASKS)
    const items = [{ price: pro }]
    const strict = { customer, items, payment_behavior: 'error_if_incomplete' } as const
    await assert.rejects(stripe.subscriptions.create(strict), isActionRequired('subscription'))
    const { id, status } = await stripe.subscriptions.create({ customer, items })
    assert.equal(status, 'incomplete')
    const [invoice] = (await stripe.invoices.list({ subscription: id, status: 'open' })).data
    await double.settled()
    assert.ok(typesOf(at.received).includes('invoice.payment_action_required'))
    assert.equal(await confirm(invoice?.hosted_invoice_url, 'failed'), 402)
    assert.equal((await stripe.subscriptions.retrieve(id)).status, 'incomplete')
    assert.equal(await confirm(invoice?.hosted_invoice_url), 303)
    assert.equal((await stripe.subscriptions.retrieve(id)).status, 'active')
  })

  it('asks at every renewal, or only until the first confirmation', async () => {
    const { stripe, double } = at
    for (const [card, later] of [
      [ASKS, 'past_due'],
      [ASKS_ONCE, 'active'],
    ] as const) {
      const { id } = await subscribe(at, card)
      double.advance(31 * DAY + 3_600)
      assert.equal((await stripe.subscriptions.retrieve(id)).status, 'past_due')
      const [open] = (await stripe.invoices.list({ subscription: id, status: 'open' })).data
      await confirm(open?.hosted_invoice_url)
      assert.equal((await stripe.subscriptions.retrieve(id)).status, 'active')
      double.advance(31 * DAY)
      assert.equal((await stripe.subscriptions.retrieve(id)).status, later)
    }
  })

  it('can be confirmed on the checkout page, or declined after that', async () => {
    const { id, pay } = await openCheckout(at)
    const asked = await pay({ card: '4000 0027 6000 3184' })
    assert.equal(asked.status, 402)
    assert.match(await asked.text(), /The bank asks you to confirm[\s\S]*4000 0027 6000 3184/)
    const wrong = { card: '4000 0082 6000 3178', authentication: 'confirmed' }
    assert.equal((await pay(wrong)).status, 402)
    const failed = await pay({ card: '4000002760003184', authentication: 'failed' })
    assert.equal(failed.status, 402)
    const paid = await pay({ card: '4000002760003184', authentication: 'confirmed' })
    assert.equal(paid.status, 303)
    assert.equal((await at.stripe.checkout.sessions.retrieve(id)).payment_status, 'paid')
  })

  it('is set up for later payments when a trial is bought, or asks at its end, too', async () => {
    const { double, stripe } = at
    for (const [card, status] of [
      ['4000 0025 0000 3155', 'active'],
      ['4000 0027 6000 3184', 'past_due'],
    ] as const) {
      const { customer, pay } = await openCheckout(at, { trial_period_days: 14 })
      assert.match(await (await pay({ card })).text(), /The bank asks you to confirm/)
      assert.equal((await pay({ card, authentication: 'failed' })).status, 402)
      assert.equal((await pay({ card, authentication: 'confirmed' })).status, 303)
      const list = async () => (await stripe.subscriptions.list({ customer })).data
      assert.deepEqual(
        (await list()).map((one) => one.status),
        ['trialing'],
      )
      double.advance(14 * DAY + 3_600)
      assert.deepEqual(
        (await list()).map((one) => one.status),
        [status],
      )
    }
  })

  it('is set up for later payments with a setup intent', async () => {
    const { double, stripe } = at
    const { id, customer } = await subscribe(at)
    const intent = await stripe.setupIntents.create({ customer })
    const { payment_method: method } = await stripe.setupIntents.confirm(intent.id, {
      payment_method: ASKS_ONCE,
    })
    await stripe.subscriptions.update(id, { default_payment_method: String(method) })
    double.advance(31 * DAY + 3_600)
    assert.equal((await stripe.subscriptions.retrieve(id)).status, 'active')
  })
})

describe('a pending update', () => {
  const upgrade = ({ pro }: Double, item: string): Stripe.SubscriptionUpdateParams => ({
    items: [{ id: item, price: pro }],
    proration_behavior: 'always_invoice',
    payment_behavior: 'pending_if_incomplete',
    metadata: { note: 'new' },
    expand: ['latest_invoice'],
  })

  async function suspend(at: Double) {
    const made = await subscribe(at, ASKS)
    const { stripe } = at
    const strict = { ...upgrade(at, made.item), payment_behavior: 'error_if_incomplete' } as const
    await assert.rejects(
      stripe.subscriptions.update(made.id, strict),
      isActionRequired('subscription'),
    )
    const asked = await stripe.subscriptions.update(made.id, upgrade(at, made.item))
    const invoice = asked.latest_invoice as Stripe.Invoice // safe: it is expanded
    return { ...made, asked, invoice }
  }

  it('changes items and metadata once its invoice is paid', async () => {
    const { stripe, starter, pro, double } = at
    const { id, asked, invoice } = await suspend(at)
    assert.equal(asked.status, 'active')
    assert.equal(asked.items.data[0]?.price.id, starter)
    assert.equal(asked.pending_update?.subscription_items?.[0]?.price.id, pro)
    assert.equal(asked.pending_update?.expires_at, double.now() + 23 * 3_600)
    assert.equal(invoice.amount_due, 2000)
    assert.equal(await confirm(invoice.hosted_invoice_url, 'failed'), 402)
    assert.equal(await confirm(invoice.hosted_invoice_url), 303)
    const done = await stripe.subscriptions.retrieve(id)
    assert.equal(done.pending_update, null)
    assert.equal(done.items.data[0]?.price.id, pro)
    assert.deepEqual(done.metadata, { note: 'new' })
    await double.settled()
    assert.ok(typesOf(at.received).includes('customer.subscription.pending_update_applied'))
  })

  it('can be paid with another card', async () => {
    const { id, invoice } = await suspend(at)
    assert.equal(await confirm(invoice.hosted_invoice_url, 'failed', '4242424242424242'), 303)
    assert.equal((await at.stripe.subscriptions.retrieve(id)).items.data[0]?.price.id, at.pro)
  })

  it('is discarded after 23 hours, with its invoice, and without dunning', async () => {
    const { stripe, starter, double } = at
    const { id, customer } = await suspend(at)
    double.advance(23 * 3_600)
    const done = await stripe.subscriptions.retrieve(id)
    assert.equal(done.pending_update, null)
    assert.equal(done.status, 'active')
    assert.equal(done.items.data[0]?.price.id, starter)
    assert.deepEqual((await stripe.invoices.list({ customer, status: 'open' })).data, [])
    await double.settled()
    assert.ok(typesOf(at.received).includes('customer.subscription.pending_update_expired'))
  })

  it('is discarded when its invoice becomes void, when the items change, and at the end', async () => {
    const { stripe } = at
    const voided = await suspend(at)
    await stripe.invoices.voidInvoice(voided.invoice.id ?? '')
    assert.equal((await stripe.subscriptions.retrieve(voided.id)).pending_update, null)
    const changed = await suspend(at)
    await stripe.subscriptions.update(changed.id, {
      items: [{ id: changed.item, quantity: 1 }],
      proration_behavior: 'none',
    })
    assert.equal((await stripe.subscriptions.retrieve(changed.id)).pending_update, null)
    const ended = await suspend(at)
    await stripe.subscriptions.cancel(ended.id)
    assert.equal((await stripe.subscriptions.retrieve(ended.id)).pending_update, null)
    assert.deepEqual((await stripe.invoices.list({ status: 'open' })).data, [])
    await assert.rejects(stripe.invoices.voidInvoice(voided.invoice.id ?? ''), { statusCode: 400 })
  })

  it('refuses parameters that cannot wait', async () => {
    const { id, item } = await subscribe(at)
    const params = upgrade(at, item)
    await assert.rejects(at.stripe.subscriptions.update(id, { ...params, description: 'later' }), {
      statusCode: 400,
      param: 'description',
    })
  })
})

describe('an open invoice', () => {
  it('is paid with the given card, which makes the subscription active', async () => {
    const { stripe, double } = at
    const { id, customer } = await subscribe(at, 'pm_card_chargeCustomerFail')
    double.advance(31 * DAY + 3_600)
    const [open] = (await stripe.invoices.list({ subscription: id, status: 'open' })).data
    const invoice = open?.id ?? ''
    await assert.rejects(stripe.invoices.pay(invoice), Stripe.errors.StripeCardError)
    const asks = await stripe.paymentMethods.attach(ASKS, { customer })
    await assert.rejects(
      stripe.invoices.pay(invoice, { payment_method: asks.id, off_session: false }),
      isActionRequired('invoice'),
    )
    const visa = await stripe.paymentMethods.attach('pm_card_visa', { customer })
    assert.equal((await stripe.invoices.pay(invoice, { payment_method: visa.id })).status, 'paid')
    assert.equal((await stripe.subscriptions.retrieve(id)).status, 'active')
    await assert.rejects(stripe.invoices.pay(invoice), { statusCode: 400 })
    double.advance(15 * DAY)
    assert.equal((await stripe.subscriptions.retrieve(id)).status, 'active')
  })

  it('can leave the subscription unpaid at the end of dunning, until it is paid', async () => {
    const { stripe, double } = at
    await fetch(`${double.url}/_double/dunning`, {
      method: 'POST',
      body: JSON.stringify({ end: 'unpaid' }),
    })
    const { id, customer } = await subscribe(at, 'pm_card_chargeCustomerFail')
    double.advance(31 * DAY + 3_600 + 15 * DAY)
    assert.equal((await stripe.subscriptions.retrieve(id)).status, 'unpaid')
    const [open] = (await stripe.invoices.list({ subscription: id, status: 'open' })).data
    const visa = await stripe.paymentMethods.attach('pm_card_visa', { customer })
    await stripe.invoices.pay(open?.id ?? '', { payment_method: visa.id })
    assert.equal((await stripe.subscriptions.retrieve(id)).status, 'active')
  })

  it('leaves later invoices of an unpaid subscription as drafts', async () => {
    const { stripe, double } = at
    double.setDunning({ end: 'unpaid' })
    const { id } = await subscribe(at, 'pm_card_chargeCustomerFail')
    double.advance(60 * DAY)
    const { data } = await stripe.invoices.list({ subscription: id })
    assert.deepEqual(
      data.map(({ status }) => status),
      ['draft', 'open', 'paid'],
    )
    assert.equal((await stripe.subscriptions.retrieve(id)).status, 'unpaid')
  })
})
