import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startStripeDouble } from '../../stripe-double/start-double.ts'
import { activateTax } from '../../stripe-double/tax/tax-settings.ts'
import { freshly } from '../support/scene/freshly.ts'
import { addPayer, DAY, sdkFor, startDouble } from './start.ts'

type Started = Awaited<ReturnType<typeof startDouble>>

const GB = { country: 'GB', postal_code: 'N1 1AA' }

async function subscribe({ stripe, pro }: Started, price = pro, address = GB) {
  const customer = await addPayer(stripe)
  await stripe.customers.update(customer, { address })
  const automatic_tax = { enabled: true }
  return stripe.subscriptions.create({ customer, items: [{ price }], automatic_tax })
}

async function firstInvoice({ stripe }: Started, subscription: { customer: unknown }) {
  const { data } = await stripe.invoices.list({ customer: String(subscription.customer) })
  const invoice = data.at(-1)
  assert.ok(invoice)
  return invoice
}

describe('automatic tax', () => {
  const at = freshly(startDouble)

  it('is added to a price without tax, and shown on the invoice and its lines', async () => {
    const invoice = await firstInvoice(at, await subscribe(at))
    assert.deepEqual(
      [invoice.subtotal, invoice.total, invoice.total_excluding_tax, invoice.amount_paid],
      [2900, 3480, 2900, 3480],
    )
    assert.equal(invoice.automatic_tax.status, 'complete')
    const [tax] = invoice.total_taxes ?? []
    assert.deepEqual(
      [tax?.amount, tax?.taxable_amount, tax?.tax_behavior, tax?.taxability_reason],
      [580, 2900, 'exclusive', 'standard_rated'],
    )
    assert.equal(invoice.lines.data[0]?.taxes?.[0]?.amount, 580)
  })

  it('is within a price that includes it', async () => {
    const { id } = await at.stripe.prices.create({
      currency: 'gbp',
      unit_amount: 1200,
      tax_behavior: 'inclusive',
      recurring: { interval: 'month' },
      product_data: { name: 'Inclusive' },
    })
    const invoice = await firstInvoice(at, await subscribe(at, id))
    assert.deepEqual([invoice.total, invoice.total_excluding_tax], [1200, 1000])
    assert.equal(invoice.total_taxes?.[0]?.amount, 200)
  })

  it('is on what a discount leaves', async () => {
    const { stripe, pro } = at
    const customer = await addPayer(stripe)
    await stripe.customers.update(customer, { address: GB })
    const { id: coupon } = await stripe.coupons.create({ percent_off: 50 })
    const subscription = await stripe.subscriptions.create({
      customer,
      items: [{ price: pro }],
      discounts: [{ coupon }],
      automatic_tax: { enabled: true },
    })
    const invoice = await firstInvoice(at, subscription)
    assert.deepEqual([invoice.total, invoice.total_taxes?.[0]?.amount], [1740, 290])
  })

  it('needs a postal code in the United States', async () => {
    const address = { country: 'US', state: 'NY', postal_code: '' }
    await assert.rejects(subscribe(at, at.pro, address), { code: 'customer_tax_location_invalid' })
  })

  it('is for customers with a tax id to account for', async () => {
    const customer = await addPayer(at.stripe)
    await at.stripe.customers.update(customer, { address: GB })
    await at.stripe.customers.createTaxId(customer, { type: 'gb_vat', value: 'GB123456789' })
    const automatic_tax = { enabled: true }
    const params = { customer, items: [{ price: at.pro }], automatic_tax }
    const invoice = await firstInvoice(at, await at.stripe.subscriptions.create(params))
    assert.deepEqual(
      [invoice.total, invoice.total_taxes?.[0]?.taxability_reason],
      [2900, 'reverse_charge'],
    )
  })

  it('stops at a renewal for a customer whose place is unknown', async () => {
    const subscription = await subscribe(at)
    await at.stripe.customers.update(String(subscription.customer), { address: '' })
    at.double.advance(31 * DAY + 2 * 3_600)
    const { automatic_tax } = await at.stripe.subscriptions.retrieve(subscription.id)
    assert.deepEqual(
      [automatic_tax.enabled, automatic_tax.disabled_reason],
      [false, 'requires_location_inputs'],
    )
    const { data } = await at.stripe.invoices.list({ customer: String(subscription.customer) })
    assert.deepEqual(
      [data[0]?.amount_paid, data[0]?.automatic_tax.disabled_reason],
      [2900, 'finalization_requires_location_inputs'],
    )
  })

  it('needs an account with a head office', async () => {
    await using double = await startStripeDouble()
    const stripe = sdkFor(double.port)
    assert.equal((await stripe.tax.settings.retrieve()).status, 'pending')
    const { id: price } = await stripe.prices.create({
      currency: 'usd',
      unit_amount: 900,
      recurring: { interval: 'month' },
      product_data: { name: 'Plan' },
    })
    const customer = await addPayer(stripe)
    await stripe.customers.update(customer, { address: GB })
    const params = { customer, items: [{ price }], automatic_tax: { enabled: true } }
    await assert.rejects(stripe.subscriptions.create(params), { code: 'stripe_tax_inactive' })
    activateTax(double.world)
    assert.equal((await stripe.tax.settings.retrieve()).status, 'active')
    assert.equal((await stripe.subscriptions.create(params)).status, 'active')
  })

  it('needs an address in the checkout, or on the customer', async () => {
    const customer = await addPayer(at.stripe)
    const params = {
      mode: 'subscription' as const,
      customer,
      line_items: [{ price: at.pro, quantity: 1 }],
      success_url: 'https://shop.example',
      automatic_tax: { enabled: true },
    }
    const create = at.stripe.checkout.sessions.create.bind(at.stripe.checkout.sessions)
    await assert.rejects(create(params), { code: 'customer_tax_location_invalid' })
    const { id } = await create({ ...params, customer_update: { address: 'auto' } })
    assert.throws(() => at.double.payCheckout(id, { card: 'pm_card_visa' }), /billing address/)
    const paid = at.double.payCheckout(id, { card: 'pm_card_visa', address: GB })
    assert.deepEqual([paid.amount_total, paid.automatic_tax.status], [3480, 'complete'])
  })
})
