import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type Stripe from 'stripe'
import { freshly } from '../support/scene/freshly.ts'
import { addPayer, DAY, startDouble } from './start.ts'

describe('discounts', () => {
  const at = freshly(startDouble)

  it('come from a promotion code, in upper or lower case, and reduce the next invoices', async () => {
    const { double, stripe, pro } = at
    await addCode(stripe, 'SPRING', { percent_off: 50, duration: 'forever' })
    const customer = await addPayer(stripe)
    const { id } = await stripe.subscriptions.create({ customer, items: [{ price: pro }] })
    const [code] = (
      await stripe.promotionCodes.list({
        code: 'spring',
        active: true,
        expand: ['data.promotion.coupon'],
      })
    ).data
    const coupon = code?.promotion.coupon as Stripe.Coupon // safe: it is expanded
    assert.equal(coupon.percent_off, 50)
    const discounts = [{ promotion_code: code?.id ?? '' }]
    const row = await stripe.subscriptions.update(id, {
      discounts,
      expand: ['discounts.source.coupon'],
    })
    const [discount] = row.discounts as Stripe.Discount[] // safe: they are expanded
    assert.partialDeepStrictEqual(discount?.source.coupon, { percent_off: 50 })
    assert.equal(discount?.promotion_code, code?.id)
    double.advance(31 * DAY + 3_600)
    const [renewal] = (await stripe.invoices.list({ customer })).data
    assert.equal(renewal?.subtotal, 2900)
    assert.equal(renewal?.amount_paid, 1450)
    assert.equal(renewal?.total_discount_amounts?.[0]?.amount, 1450)
  })

  it('are replaced by a new list, which keeps a discount by its id', async () => {
    const { stripe, pro } = at
    const one = await stripe.coupons.create({ percent_off: 10, duration: 'forever' })
    const other = await stripe.coupons.create({ amount_off: 500, currency: 'usd' })
    const customer = await addPayer(stripe)
    const { id, discounts } = await stripe.subscriptions.create({
      customer,
      items: [{ price: pro }],
      discounts: [{ coupon: one.id }],
    })
    const kept = String(discounts[0])
    const both = await stripe.subscriptions.update(id, {
      discounts: [{ discount: kept }, { coupon: other.id }],
    })
    assert.equal(both.discounts.length, 2)
    assert.equal(both.discounts[0], kept)
    const none = await stripe.subscriptions.update(id, { discounts: '' })
    assert.deepEqual(none.discounts, [])
  })

  it('with the duration "once" end after their first invoice', async () => {
    const { stripe, starter } = at
    const { id: coupon } = await stripe.coupons.create({ percent_off: 100, duration: 'once' })
    const customer = await addPayer(stripe)
    const made = await stripe.subscriptions.create({
      customer,
      items: [{ price: starter }],
      discounts: [{ coupon }],
      expand: ['latest_invoice'],
    })
    assert.equal(made.status, 'active')
    assert.deepEqual(made.discounts, [])
    at.double.advance(31 * DAY + 3_600)
    const [renewal] = (await stripe.invoices.list({ customer })).data
    assert.equal(renewal?.amount_paid, 900)
  })

  it('are refused if the customer may not use the promotion code', async () => {
    const { stripe, pro } = at
    const first = await addCode(stripe, 'FIRST', { percent_off: 20 }, true)
    const customer = await addPayer(stripe)
    const { id } = await stripe.subscriptions.create({ customer, items: [{ price: pro }] })
    await assert.rejects(
      stripe.subscriptions.update(id, { discounts: [{ promotion_code: first }] }),
      /prior transactions/,
    )
    await assert.rejects(
      stripe.subscriptions.update(id, { discounts: [{ promotion_code: 'promo_none' }] }),
      { code: 'resource_missing', param: 'discounts[0][promotion_code]', statusCode: 400 },
    )
  })

  it('reduce only the lines of the products they apply to', async () => {
    const { double, stripe, pro, starter } = at
    const { product } = await stripe.prices.retrieve(pro)
    const applies_to = { products: [String(product)] }
    const { id: coupon } = await stripe.coupons.create({
      percent_off: 50,
      duration: 'forever',
      applies_to,
    })
    const customer = await addPayer(stripe)
    const items = [{ price: pro }, { price: starter }]
    await stripe.subscriptions.create({ customer, items, discounts: [{ coupon }] })
    double.advance(31 * DAY + 3_600)
    const totals = (await stripe.invoices.list({ customer })).data.map(({ total }) => total)
    assert.deepEqual(totals, [2350, 2350])
  })

  it('are refused in another currency than that of the subscription', async () => {
    const { stripe, pro } = at
    const customer = await addPayer(stripe)
    const items = [{ price: pro }]
    const { id } = await stripe.subscriptions.create({ customer, items })
    const { id: coupon } = await stripe.coupons.create({ amount_off: 500, currency: 'eur' })
    const code = await addCode(stripe, 'EURO', { amount_off: 500, currency: 'eur' })
    for (const discounts of [[{ coupon }], [{ promotion_code: code }]]) {
      const refused = { statusCode: 400, message: /does not match the expected currency: `usd`/ }
      await assert.rejects(stripe.subscriptions.update(id, { discounts }), refused)
      await assert.rejects(stripe.subscriptions.create({ customer, items, discounts }), refused)
    }
  })

  it('are refused at checkout if they are not for the order', async () => {
    const { double, stripe, starter } = at
    const other = await stripe.products.create({ name: 'Another' })
    await addCode(stripe, 'OTHER', { percent_off: 50, applies_to: { products: [other.id] } })
    const customer = (await stripe.customers.create()).id
    const { id } = await stripe.checkout.sessions.create({
      mode: 'subscription',
      customer,
      line_items: [{ price: starter, quantity: 1 }],
      success_url: 'https://app.example/done',
      allow_promotion_codes: true,
    })
    const pay = () => double.payCheckout(id, { card: 'pm_card_visa', promotionCode: 'other' })
    assert.throws(pay, /not valid for this order/)
  })

  it('show the products they apply to only when expanded', async () => {
    const { stripe } = at
    const { id: product } = await stripe.products.create({ name: 'Meridian' })
    const applies_to = { products: [product] }
    const { id } = await stripe.coupons.create({ percent_off: 10, applies_to })
    await stripe.promotionCodes.create({ promotion: { type: 'coupon', coupon: id }, code: 'ONE' })
    const expand = ['data.promotion.coupon.applies_to']
    const [code] = (await stripe.promotionCodes.list({ code: 'ONE', expand })).data
    assert.partialDeepStrictEqual(code?.promotion.coupon, { applies_to })
    const shallow = { code: 'ONE', expand: ['data.promotion.coupon'] }
    const [plain] = (await stripe.promotionCodes.list(shallow)).data
    assert.ok(plain)
    assert.equal((plain.promotion.coupon as Stripe.Coupon).applies_to, undefined) // safe: expanded
  })

  it('can be entered at checkout if the session allows promotion codes', async () => {
    const { double, stripe, starter } = at
    await addCode(stripe, 'HALF', { percent_off: 50 })
    const customer = (await stripe.customers.create()).id
    const { id } = await stripe.checkout.sessions.create({
      mode: 'subscription',
      customer,
      line_items: [{ price: starter, quantity: 1 }],
      ui_mode: 'embedded_page',
      return_url: 'https://app.example/done',
      allow_promotion_codes: true,
      customer_update: { address: 'auto', name: 'auto' },
      tax_id_collection: { enabled: true },
    })
    const taxId = { type: 'eu_vat', value: 'FR12345678901' }
    double.payCheckout(id, { card: 'pm_card_visa', promotionCode: 'half', name: 'Ada', taxId })
    const expand = ['subscription']
    const session = await stripe.checkout.sessions.retrieve(id, { expand })
    assert.equal(session.amount_total, 450)
    const subscription = session.subscription as Stripe.Subscription // safe: it is expanded
    assert.equal(subscription.items.data[0]?.price.id, starter)
    assert.equal((await stripe.customers.listTaxIds(customer)).data[0]?.value, taxId.value)
  })
})

async function addCode(
  stripe: Stripe,
  code: string,
  coupon: Stripe.CouponCreateParams,
  first = false,
): Promise<string> {
  const made = await stripe.coupons.create(coupon)
  const row = await stripe.promotionCodes.create({
    promotion: { type: 'coupon', coupon: made.id },
    code,
    restrictions: { first_time_transaction: first },
  })
  return row.id
}
