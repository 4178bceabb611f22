import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Stripe from 'stripe'
import { freshly } from '../support/scene/freshly.ts'
import { addPayer, DAY, startDouble, typesOf } from './start.ts'

describe('payments', () => {
  const at = freshly(startDouble)

  it('leave the checkout session open when the card is declined', async () => {
    const { stripe, pro } = at
    const { id: customer } = await stripe.customers.create()
    const { id, url } = await stripe.checkout.sessions.create({
      mode: 'subscription',
      customer,
      line_items: [{ price: pro, quantity: 1 }],
      success_url: 'https://app.example/done',
      cancel_url: 'https://app.example/plans',
    })
    const page = await fetch(url ?? '')
    assert.match(await page.text(), /\$29\.00 per month[\s\S]*href="https:\/\/app\.example\/plans"/)
    const body = new URLSearchParams({ card: '4000 0000 0000 0002' })
    const refused = await fetch(url ?? '', { method: 'POST', body })
    assert.equal(refused.status, 402)
    assert.match(await refused.text(), /Your card was declined/)
    assert.equal((await stripe.checkout.sessions.retrieve(id)).status, 'open')
  })

  it('that fail make the subscription past due and end it after the last retry', async () => {
    const { double, stripe, pro } = at
    const customer = await addPayer(stripe)
    const { id } = await stripe.subscriptions.create({ customer, items: [{ price: pro }] })
    await useCard(stripe, customer, 'pm_card_chargeCustomerFail')
    double.advance(31 * DAY + 3_600)
    assert.equal((await stripe.subscriptions.retrieve(id)).status, 'past_due')
    const [invoice] = (await stripe.invoices.list({ customer, status: 'open' })).data
    assert.equal(invoice?.attempt_count, 1)
    assert.equal(invoice?.next_payment_attempt, double.now() + DAY)
    double.advance(15 * DAY)
    assert.equal((await stripe.subscriptions.retrieve(id)).status, 'canceled')
    await double.settled()
    const failures = typesOf(at.received).filter((type) => type === 'invoice.payment_failed')
    assert.equal(failures.length, 9)
  })

  it('of a retry reactivate a past due subscription', async () => {
    const { double, stripe, pro } = at
    const customer = await addPayer(stripe)
    const { id } = await stripe.subscriptions.create({ customer, items: [{ price: pro }] })
    await useCard(stripe, customer, 'pm_card_chargeCustomerFail')
    double.advance(31 * DAY + 3_600)
    assert.equal((await stripe.subscriptions.retrieve(id)).status, 'past_due')
    await useCard(stripe, customer, 'pm_card_visa')
    double.advance(3 * DAY)
    const [invoice] = (await stripe.invoices.list({ customer })).data
    assert.equal(invoice?.status, 'paid')
    assert.equal((await stripe.subscriptions.retrieve(id)).status, 'active')
  })

  it('of an ended subscription begin again once `auto_advance` is set', async () => {
    const { double, stripe, pro } = at
    const customer = await addPayer(stripe)
    const { id } = await stripe.subscriptions.create({ customer, items: [{ price: pro }] })
    await useCard(stripe, customer, 'pm_card_chargeCustomerFail')
    double.advance(31 * DAY + 3_600)
    await stripe.subscriptions.cancel(id)
    await useCard(stripe, customer, 'pm_card_visa')
    double.advance(10 * DAY)
    const [open] = (await stripe.invoices.list({ customer, status: 'open' })).data
    assert.equal(open?.auto_advance, false)
    await stripe.invoices.update(open.id, { auto_advance: true })
    double.advance(3_600)
    const [paid] = (await stripe.invoices.list({ customer })).data
    assert.deepEqual([paid?.id, paid?.status], [open.id, 'paid'])
  })

  it('that fail leave a new subscription incomplete; with error_if_incomplete they prevent it', async () => {
    const { double, stripe, pro } = at
    const customer = await addPayer(stripe, 'pm_card_chargeCustomerFail')
    const items = [{ price: pro }]
    await assert.rejects(
      stripe.subscriptions.create({ customer, items, payment_behavior: 'error_if_incomplete' }),
      (error) => error instanceof Stripe.errors.StripeCardError && error.statusCode === 402,
    )
    assert.deepEqual((await stripe.subscriptions.list({ customer, status: 'all' })).data, [])
    const { id, status } = await stripe.subscriptions.create({ customer, items })
    assert.equal(status, 'incomplete')
    double.advance(DAY)
    assert.equal((await stripe.subscriptions.retrieve(id)).status, 'incomplete_expired')
  })

  it('that fail for an upgrade with error_if_incomplete change nothing', async () => {
    const { stripe, starter, pro } = at
    const customer = await addPayer(stripe)
    const made = await stripe.subscriptions.create({ customer, items: [{ price: starter }] })
    await useCard(stripe, customer, 'pm_card_chargeCustomerFail')
    const upgrade = stripe.subscriptions.update(made.id, {
      items: [{ id: made.items.data[0]?.id ?? '', price: pro }],
      proration_behavior: 'always_invoice',
      payment_behavior: 'error_if_incomplete',
    })
    await assert.rejects(upgrade, Stripe.errors.StripeCardError)
    const same = await stripe.subscriptions.retrieve(made.id)
    assert.equal(same.items.data[0]?.price.id, starter)
    assert.equal((await stripe.invoices.list({ customer })).data.length, 1)
  })

  it('cannot use a card that is declined when it is attached', async () => {
    const { id: customer } = await at.stripe.customers.create()
    await assert.rejects(
      at.stripe.paymentMethods.attach('pm_card_visa_chargeDeclined', { customer }),
      (error) =>
        error instanceof Stripe.errors.StripeCardError && error.decline_code === 'generic_decline',
    )
  })
})

async function useCard(stripe: Stripe, customer: string, card: string): Promise<void> {
  const { id } = await stripe.paymentMethods.attach(card, { customer })
  await stripe.customers.update(customer, { invoice_settings: { default_payment_method: id } })
}
