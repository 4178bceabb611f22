import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type Stripe from 'stripe'
import { addPayer, DAY } from '../../stripe-double/start.ts'
import { codeOf, NOON } from '../../support/helpers.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { type BillingApp, makeBillingApp } from '../customers.ts'

const PATH = '/v1/billing/promo'
const MONTHS_3 = '2026-04-15T12:00:00.000Z'

/** Creates a promotion code at Stripe. Returns its id. */
async function addCode(
  { stripe }: BillingApp,
  code: string,
  more: Partial<Stripe.PromotionCodeCreateParams> = {},
  coupon: Stripe.CouponCreateParams = { percent_off: 20, duration: 'forever' },
): Promise<string> {
  const { id } = await stripe.coupons.create(coupon)
  const promotion = { type: 'coupon', coupon: id } as const
  return (await stripe.promotionCodes.create({ promotion, code, ...more })).id
}

/** As the operator does at Stripe. */
const removeDiscounts = ({ stripe }: BillingApp, ada: { readonly subscription: string }) =>
  stripe.subscriptions.update(ada.subscription, { discounts: '' })

const at = freshly(makeBillingApp)

describe('POST /v1/billing/promo', () => {
  it('applies the code, in upper or lower case, once an earlier discount is gone', async () => {
    const ada = await at.addSubscriber()
    await addCode(at, 'FIRST')
    const months = { duration: 'repeating', duration_in_months: 3 } as const
    await addCode(at, 'WELCOME', {}, { amount_off: 500, currency: 'usd', ...months })
    await ada.send('POST', PATH, { body: { code: 'first' } })
    await removeDiscounts(at, ada)
    const { status, body } = await ada.send('POST', PATH, { body: { code: ' welcome ' } })
    assert.equal(status, 200)
    const discount = {
      code: 'WELCOME',
      percentOff: null,
      amountOff: 500,
      currency: 'usd',
      endsAt: MONTHS_3,
    }
    assert.deepEqual(body, { applied: true, discount })
    assert.deepEqual((await ada.send('GET', '/v1/billing/discount')).body, discount)
    const { discounts } = await at.stripe.subscriptions.retrieve(ada.subscription)
    assert.equal(discounts.length, 1)
    assert.deepEqual(await ada.audit(), [
      { action: 'apply_promo', detail: 'FIRST' },
      { action: 'apply_promo', detail: 'WELCOME' },
    ])
  })

  it('may be tried 60 times an hour, right or wrong', async () => {
    const ada = await at.addSubscriber()
    await addCode(at, 'WELCOME')
    const left = 3
    for (let n = 0; n < 60 - left; n++) at.app.services.limits.billing.take(ada.userId, NOON)
    const guess = (code: string) => ada.send('POST', PATH, { body: { code } })
    assert.equal((await guess('WELCOME')).status, 200)
    for (let n = 1; n < left; n++) assert.equal(codeOf(await guess(`GUESS${n}`)), 'BAD_REQUEST')
    const refused = await guess('WELCOME')
    assert.equal(codeOf(refused), 'RATE_LIMITED')
    assert.equal(refused.headers.get('ratelimit-policy'), '"billing-changes";q=60;w=3600')
  })

  it('changes nothing if the code is already active', async () => {
    const ada = await at.addSubscriber()
    const id = await addCode(at, 'WELCOME')
    const first = await ada.send('POST', PATH, { body: { code: 'WELCOME' } })
    const again = await ada.send('POST', PATH, { body: { code: 'WELCOME' } })
    assert.deepEqual(again.body, first.body)
    assert.equal((await at.stripe.promotionCodes.retrieve(id)).times_redeemed, 1)
    assert.equal((await ada.audit()).length, 1)
  })

  it('refuses a code that lowered an invoice: its discount would start anew', async () => {
    const ada = await at.addSubscriber()
    const once = { percent_off: 20, duration: 'once' } as const
    const promotion_code = await addCode(at, 'USED', {}, once)
    await addCode(at, 'LATER')
    await at.stripe.subscriptions.update(ada.subscription, { discounts: [{ promotion_code }] })
    at.double.advance(31 * DAY + 3_600)
    const apply = (code: string) => ada.send('POST', PATH, { body: { code } })
    assert.match((await apply('USED')).text, /was used before/)
    assert.equal((await apply('LATER')).status, 200)
    assert.match((await apply('used')).text, /was used before/)
  })

  it('does not replace a discount that is active, of the subscription or of the customer', async () => {
    const ada = await at.addSubscriber()
    await addCode(at, 'PUBLIC', {}, { percent_off: 10, duration: 'once' })
    const { id: coupon } = await at.stripe.coupons.create({ percent_off: 50, duration: 'forever' })
    await at.stripe.subscriptions.update(ada.subscription, { discounts: [{ coupon }] })
    const refused = await ada.send('POST', PATH, { body: { code: 'PUBLIC' } })
    assert.equal(codeOf(refused), 'BAD_REQUEST')
    assert.match(refused.text, /A discount is active already/)
    at.double.advance(62 * DAY + 2 * 3_600)
    const { data } = await at.stripe.invoices.list({ customer: ada.customer })
    assert.deepEqual(
      data.map(({ amount_paid }) => amount_paid),
      [1_450, 1_450, 2_900],
    )
  })

  it('uses the promotion for the caller if several customers have the same code', async () => {
    const ada = await at.addSubscriber()
    const eve = await at.addSubscriber('eve@example.com')
    await addCode(at, 'MINE', { customer: ada.customer })
    const { promotionCodes } = at.double.world.state.tables
    const [mine] = promotionCodes.values()
    assert.ok(mine)
    // This promotion is newer, so Stripe lists it first.
    promotionCodes.set('promo_eve', { ...mine, id: 'promo_eve', customer: eve.customer })
    assert.equal((await ada.send('POST', PATH, { body: { code: 'mine' } })).status, 200)
    promotionCodes.delete('promo_eve')
    const foreign = await eve.send('POST', PATH, { body: { code: 'mine' } })
    assert.equal(codeOf(foreign), 'BAD_REQUEST')
  })

  it('refuses codes that are unknown, have expired, or are not for this subscription', async () => {
    const ada = await at.addSubscriber()
    const other = await at.stripe.products.create({ name: 'Another' })
    await addCode(at, 'OFF', { active: false })
    await addCode(at, 'SPENT', { max_redemptions: 0 })
    await addCode(at, 'OVER', { expires_at: NOON / 1000 - 1 })
    await addCode(at, 'FIRST', { restrictions: { first_time_transaction: true } })
    const minimum = { minimum_amount: 2901, minimum_amount_currency: 'usd' }
    await addCode(at, 'MINIMUM', { restrictions: minimum })
    await addCode(at, 'OTHER', {}, { percent_off: 10, applies_to: { products: [other.id] } })
    const unknown = ['NONE', 'a b', 'é', '\ud800', ' ', '../..', 'A'.repeat(201)]
    for (const code of ['OFF', 'SPENT', 'OVER', 'FIRST', 'MINIMUM', 'OTHER', ...unknown]) {
      const answer = await ada.send('POST', PATH, { body: { code } })
      assert.equal(codeOf(answer), 'BAD_REQUEST', code)
    }
    assert.deepEqual((await at.stripe.subscriptions.retrieve(ada.subscription)).discounts, [])
    assert.deepEqual(await ada.audit(), [])
  })

  it('accepts a code if the subscription has its minimum and one of its products', async () => {
    const ada = await at.addSubscriber()
    const { product } = await at.stripe.prices.retrieve(at.prices.pro)
    const minimum = { minimum_amount: 2900, minimum_amount_currency: 'usd' }
    const coupon = { percent_off: 10, applies_to: { products: [String(product)] } }
    await addCode(at, 'ENOUGH', { restrictions: minimum }, { ...coupon, duration: 'forever' })
    assert.equal((await ada.send('POST', PATH, { body: { code: 'ENOUGH' } })).status, 200)
  })

  it('answers 404 without an active subscription, even one that has just ended', async () => {
    await addCode(at, 'WELCOME')
    const body = { code: 'WELCOME' }
    const eve = await at.addCustomer('eve@example.com')
    assert.equal(codeOf(await eve.send('POST', PATH, { body })), 'NO_ACTIVE_SUBSCRIPTION')
    const ada = await at.addSubscriber()
    await at.stripe.subscriptions.cancel(ada.subscription)
    assert.equal(codeOf(await ada.send('POST', PATH, { body })), 'NO_ACTIVE_SUBSCRIPTION')
  })
})

describe('GET /v1/billing/discount', () => {
  it('answers an empty object if there is no discount or it has ended', async () => {
    const eve = await at.addUser('eve@example.com')
    const ada = await at.addSubscriber()
    assert.deepEqual((await eve.send('GET', '/v1/billing/discount')).body, {})
    assert.deepEqual((await ada.send('GET', '/v1/billing/discount')).body, {})
    const coupon = await at.stripe.coupons.create({ percent_off: 10, duration: 'forever' })
    const discounts = [{ coupon: coupon.id }]
    await at.stripe.subscriptions.update(ada.subscription, { discounts })
    const table = at.double.world.state.tables.discounts
    for (const row of table.values()) table.set(row.id, { ...row, end: NOON / 1000 })
    assert.deepEqual((await ada.send('GET', '/v1/billing/discount')).body, {})
  })

  it('answers the discount of the customer if the subscription has none', async () => {
    const ada = await at.addSubscriber()
    const eve = await at.addCustomer('eve@example.com')
    await giveDiscount(at, [ada.customer, eve.customer])
    const discount = {
      code: null,
      percentOff: 15,
      amountOff: null,
      currency: null,
      endsAt: null,
    }
    assert.deepEqual((await ada.send('GET', '/v1/billing/discount')).body, discount)
    assert.deepEqual((await eve.send('GET', '/v1/billing/discount')).body, discount)
    const promotion_code = await addCode(at, 'WELCOME')
    const refused = await ada.send('POST', PATH, { body: { code: 'WELCOME' } })
    assert.match(refused.text, /A discount is active already/)
    await at.stripe.subscriptions.update(ada.subscription, { discounts: [{ promotion_code }] })
    const { body } = await ada.send('GET', '/v1/billing/discount')
    assert.partialDeepStrictEqual(body, { code: 'WELCOME', percentOff: 20 })
  })

  it('answers an empty object if the subscription or the customer no longer exists at Stripe', async () => {
    const ada = await at.addSubscriber()
    const eve = await at.addCustomer('eve@example.com')
    at.double.world.state.tables.subscriptions.clear()
    await at.stripe.customers.del(eve.customer)
    assert.deepEqual((await ada.send('GET', '/v1/billing/discount')).body, {})
    assert.deepEqual((await eve.send('GET', '/v1/billing/discount')).body, {})
  })
})

/** Writes the discount into the double's tables: no API call gives one to a customer. */
async function giveDiscount({ stripe, double, prices }: BillingApp, ids: readonly string[]) {
  const coupon = await stripe.coupons.create({ percent_off: 15, duration: 'forever' })
  const customer = await addPayer(stripe)
  const items = [{ price: prices.pro }]
  const discounts = [{ coupon: coupon.id }]
  await stripe.subscriptions.create({ customer, items, discounts })
  const [discount] = double.world.state.tables.discounts.values()
  assert.ok(discount)
  const { customers } = double.world.state.tables
  for (const id of ids) {
    const row = customers.get(id)
    assert.ok(row)
    customers.set(id, { ...row, discount: { ...discount, customer: id, subscription: null } })
  }
}
