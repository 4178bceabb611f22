import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type Stripe from 'stripe'
import { freshly } from '../support/scene/freshly.ts'
import { addPayer, DAY, startDouble } from './start.ts'

describe('customers', () => {
  const at = freshly(startDouble)

  it('keep address, name and metadata; an empty value removes a metadata entry', async () => {
    const { stripe } = at
    const { id } = await stripe.customers.create({
      name: 'Ada',
      metadata: { user: 'user-1', plan: 'free' },
    })
    const address = { line1: '1 Main St', city: 'Paris', country: 'FR', postal_code: '75001' }
    const row = await stripe.customers.update(id, { address, metadata: { plan: '' } })
    assert.deepEqual(row.address, { ...address, line2: null, state: null })
    assert.equal(row.name, 'Ada')
    assert.deepEqual(row.metadata, { user: 'user-1' })
  })

  it('lose their subscription when they are deleted, and stay marked as deleted', async () => {
    const id = await addPayer(at.stripe)
    const items = [{ price: at.pro }]
    const subscription = await at.stripe.subscriptions.create({ customer: id, items })
    await at.stripe.customers.del(id)
    const ended = await at.stripe.subscriptions.retrieve(subscription.id)
    assert.equal(ended.status, 'canceled')
    at.double.advance(40 * DAY)
    const gone = await at.stripe.customers.retrieve(id)
    assert.equal(gone.deleted, true)
    await assert.rejects(at.stripe.customers.update(id, { name: 'Ada' }), {
      code: 'resource_missing',
    })
  })

  it('have tax ids whose values are checked', async () => {
    const { stripe } = at
    const { id } = await stripe.customers.create()
    const made = await stripe.customers.createTaxId(id, { type: 'eu_vat', value: 'DE123456789' })
    assert.equal(made.country, 'DE')
    assert.equal(made.verification?.status, 'verified')
    await assert.rejects(stripe.customers.createTaxId(id, { type: 'eu_vat', value: 'nope' }), {
      code: 'tax_id_invalid',
      statusCode: 400,
    })
    const listed = await stripe.customers.listTaxIds(id)
    assert.deepEqual(
      listed.data.map((row) => row.id),
      [made.id],
    )
    await stripe.customers.deleteTaxId(id, made.id)
    assert.deepEqual((await stripe.customers.listTaxIds(id)).data, [])
  })

  it('add a card through a setup intent and make it the default', async () => {
    const { stripe } = at
    const { id } = await stripe.customers.create()
    const intent = await stripe.setupIntents.create({
      customer: id,
      usage: 'off_session',
      automatic_payment_methods: { enabled: true },
    })
    assert.match(intent.client_secret ?? '', new RegExp(`^${intent.id}_secret_`))
    const done = await stripe.setupIntents.confirm(intent.id, { payment_method: 'pm_card_amex' })
    assert.equal(done.status, 'succeeded')
    const method = String(done.payment_method)
    await stripe.customers.update(id, { invoice_settings: { default_payment_method: method } })
    const row = await stripe.customers.retrieve(id, {
      expand: ['invoice_settings.default_payment_method'],
    })
    assert.ok(!row.deleted)
    const card = row.invoice_settings.default_payment_method as Stripe.PaymentMethod // safe: expanded
    assert.equal(card.card?.last4, '0005')
    await stripe.paymentMethods.detach(method)
    const without = await stripe.customers.retrieve(id)
    assert.ok(!without.deleted)
    assert.equal(without.invoice_settings.default_payment_method, null)
  })

  it('cannot have an unknown country', async () => {
    for (const country of ['QQ', 'ZZ', 'EU', 'gb', 'Germany']) {
      const address = { line1: '1 Example Street', country }
      await assert.rejects(at.stripe.customers.create({ address }), { param: 'address[country]' })
    }
  })

  it('retrieve the card of a test token, which belongs to nobody until it is attached', async () => {
    const { stripe } = at
    const card = await stripe.paymentMethods.retrieve('pm_card_visa')
    assert.equal(card.customer, null)
    const { id: customer } = await stripe.customers.create()
    assert.equal((await stripe.paymentMethods.attach(card.id, { customer })).id, card.id)
  })

  it('cannot use a card of another customer', async () => {
    const { stripe } = at
    const owner = await addPayer(stripe)
    const other = await stripe.customers.create()
    const [card] = (await stripe.customers.listPaymentMethods(owner)).data
    const id = card?.id ?? ''
    await assert.rejects(stripe.paymentMethods.attach(id, { customer: other.id }))
    const settings = { invoice_settings: { default_payment_method: id } }
    await assert.rejects(stripe.customers.update(other.id, settings), { statusCode: 400 })
  })

  it('cancel and reactivate in the portal, which sets only cancel_at', async () => {
    const { stripe, pro } = at
    const customer = await addPayer(stripe)
    const { id } = await stripe.subscriptions.create({ customer, items: [{ price: pro }] })
    const return_url = 'https://app.example/account'
    const { url } = await stripe.billingPortal.sessions.create({ customer, return_url })
    assert.match(await (await fetch(url)).text(), /Meridian Pro[\s\S]*Cancel[\s\S]*app\.example/)
    const form = { method: 'POST', body: new URLSearchParams({ subscription: id }) }
    await fetch(`${url}/cancel`, form)
    const canceling = await stripe.subscriptions.retrieve(id)
    assert.equal(canceling.cancel_at, canceling.items.data[0]?.current_period_end)
    assert.equal(canceling.cancel_at_period_end, false)
    await stripe.subscriptions.update(id, { cancel_at_period_end: false })
    assert.notEqual((await stripe.subscriptions.retrieve(id)).cancel_at, null)
    await fetch(`${url}/reactivate`, form)
    assert.equal((await stripe.subscriptions.retrieve(id)).cancel_at, null)
  })

  it('see an invoice as a page', async () => {
    const { stripe, pro } = at
    const customer = await addPayer(stripe)
    await stripe.subscriptions.create({ customer, items: [{ price: pro }] })
    const [invoice] = (await stripe.invoices.list({ customer, limit: 1 })).data
    assert.match(await (await fetch(invoice?.hosted_invoice_url ?? '')).text(), /\$29\.00/)
  })
})
