import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { Invoice, ProrationPreview } from '../../../lib/contract/billing/billing-schemas.ts'
import type { CheckoutEntry } from '../../../stripe-double/resources/checkout/complete-checkout.ts'
import { codeOf } from '../../support/helpers.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { DAY, openShop, type Shop, SUBSCRIPTION } from '../shop.ts'

const TAX = { env: { STRIPE_TAX: 'automatic' } }
const LONDON = { line1: '1 Example Street', city: 'London', postal_code: 'N1 1AA', country: 'GB' }

/** Buys the plan on the payment page. */
async function buy(shop: Shop, planId: string, entry: Omit<CheckoutEntry, 'card'> = {}) {
  const { status, text } = await shop.send('POST', SUBSCRIPTION, { planId })
  assert.equal(status, 200, text)
  const [session] = [...shop.double.world.state.tables.sessions.values()].slice(-1)
  const paid = shop.double.payCheckout(session?.id ?? '', { card: 'pm_card_visa', ...entry })
  await shop.settled()
  return paid
}

async function preview(shop: Shop, planId: string) {
  const { body, text } = await shop.send('GET', `${SUBSCRIPTION}/preview?planId=${planId}`)
  return v.parse(ProrationPreview, body, { message: text })
}

const lastInvoice = ({ double }: Shop) => [...double.world.state.tables.invoices.values()].at(-1)

const bodyOf = (shop: Shop, path: string) => {
  const call = shop.double.calls().findLast((one) => one.path === path)
  return new URLSearchParams(call?.body)
}

describe('with STRIPE_TAX=automatic', () => {
  const shop = freshly(() => openShop(TAX))

  it('a purchase and its renewals are charged with the tax of the buyer’s country', async () => {
    const paid = await buy(shop, 'pro', { address: LONDON })
    assert.equal(paid.amount_total, 2900 + 580)
    assert.equal(paid.total_details?.amount_tax, 580)
    shop.pass(31 * DAY + 2 * 3_600)
    assert.equal(lastInvoice(shop)?.amount_paid, 3480)
  })

  it('the address that the buyer entered is kept, for the invoices', async () => {
    await buy(shop, 'pro', { address: LONDON })
    const { body } = await shop.send('GET', '/v1/billing/details')
    const { address } = v.parse(v.object({ address: v.object({ country: v.string() }) }), body)
    assert.equal(address.country, 'GB')
  })

  it('the preview of a plan change shows the tax, and the change charges that much', async () => {
    await buy(shop, 'starter', { address: LONDON })
    const shown = await preview(shop, 'pro')
    assert.equal(shown.tax, 400)
    assert.equal(shown.amountDue, 2400)
    assert.deepEqual(shown.lines.at(-1), { description: 'Tax', amount: 400 })
    const sum = shown.lines.reduce((all, { amount }) => all + amount, 0)
    assert.equal(sum, shown.amountDue)
    assert.equal((await shop.send('PUT', SUBSCRIPTION, { planId: 'pro' })).status, 200)
    assert.equal(lastInvoice(shop)?.amount_paid, 2400)
  })

  it('a business abroad accounts for the tax itself', async () => {
    const taxId = { type: 'gb_vat', value: 'GB123456789' }
    const paid = await buy(shop, 'starter', { address: LONDON, taxId })
    assert.equal(paid.amount_total, 900)
    const { lines, tax, amountDue } = await preview(shop, 'pro')
    assert.deepEqual(lines.at(-1), { description: 'Tax (reverse charge)', amount: 0 })
    assert.deepEqual([tax, amountDue], [0, 2000])
  })

  it('invoices say how much of them is tax', async () => {
    await buy(shop, 'pro', { address: LONDON })
    const { body } = await shop.send('GET', '/v1/billing/invoices')
    const [invoice] = v.parse(v.array(Invoice), body)
    assert.deepEqual([invoice?.amountDue, invoice?.tax], [3480, 580])
  })

  it('a plan change without a usable address asks for one, and works once it is given', async () => {
    await buy(shop, 'starter', { address: LONDON })
    const [customer] = shop.double.world.state.tables.customers.keys()
    await shop.stripe.customers.update(customer ?? '', { address: '' })
    for (const answer of [
      await shop.send('GET', `${SUBSCRIPTION}/preview?planId=pro`),
      await shop.send('PUT', SUBSCRIPTION, { planId: 'pro' }),
    ]) {
      assert.equal(answer.status, 400)
      assert.equal(codeOf(answer), 'BAD_REQUEST')
      assert.match(answer.text, /enter a billing address/)
    }
    assert.equal((await shop.row())?.plan, 'starter')
    assert.equal((await shop.send('PUT', '/v1/billing/address', LONDON)).status, 200)
    assert.equal((await shop.send('PUT', SUBSCRIPTION, { planId: 'pro' })).status, 200)
  })

  it('an address that does not say which tax applies is refused', async () => {
    await buy(shop, 'starter', { address: LONDON })
    const answer = await shop.send('PUT', '/v1/billing/address', { line1: '1 Main', country: 'US' })
    assert.equal(answer.status, 400)
    assert.match(answer.text, /enter a billing address/)
  })

  it('subscriptions sold before it stay without tax', async () => {
    await buy(shop, 'starter', { address: LONDON })
    const id = (await shop.row())?.id ?? ''
    await shop.stripe.subscriptions.update(id, { automatic_tax: { enabled: false } })
    const { tax, amountDue } = await preview(shop, 'pro')
    assert.deepEqual([tax, amountDue], [undefined, 2000])
  })
})

describe('without STRIPE_TAX', () => {
  it('no call says anything about tax', async () => {
    await using shop = await openShop()
    await buy(shop, 'starter', { address: LONDON })
    assert.equal(bodyOf(shop, '/v1/checkout/sessions').has('automatic_tax[enabled]'), false)
    const { tax, amountDue } = await preview(shop, 'pro')
    assert.deepEqual([tax, amountDue], [undefined, 2000])
    await shop.send('PUT', '/v1/billing/address', { line1: '1 Main', country: 'US' })
    const taxed = shop.double
      .calls()
      .filter(({ body }) => /(^|&)(automatic_)?tax(%5B|\[)/.test(body))
    assert.deepEqual(taxed, [])
  })
})
