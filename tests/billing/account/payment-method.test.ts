import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { codeOf } from '../../support/helpers.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { type BillingApp, makeBillingApp } from '../customers.ts'

const INFO = '/v1/billing/payment-method-info'
const SET = '/v1/billing/payment-method'
const INTENT = '/v1/billing/setup-intent'
const NONE = { brand: null, last4: null, expMonth: null, expYear: null }
const MASTERCARD = { brand: 'mastercard', last4: '4444', expMonth: 12, expYear: 2029 }

/** Creates a card that belongs to no customer. Returns its id. */
async function newCard({ stripe }: BillingApp, token = 'tok_mastercard'): Promise<string> {
  return (await stripe.paymentMethods.create({ type: 'card', card: { token } })).id
}

describe('GET /v1/billing/payment-method-info', () => {
  const at = freshly(makeBillingApp)

  it('prefers the method of the subscription to that of the customer', async () => {
    const ada = await at.addSubscriber()
    const visa = { brand: 'visa', last4: '4242', expMonth: 12, expYear: 2029 }
    assert.deepEqual((await ada.send('GET', INFO)).body, visa)
    const { id } = await at.stripe.paymentMethods.attach('pm_card_mastercard', {
      customer: ada.customer,
    })
    await at.stripe.subscriptions.update(ada.subscription, { default_payment_method: id })
    assert.deepEqual((await ada.send('GET', INFO)).body, MASTERCARD)
  })

  it('finds the method of a subscription that is older than ten others', async () => {
    const ada = await at.addSubscriber()
    const { customer } = ada
    const { id } = await at.stripe.paymentMethods.attach('pm_card_mastercard', { customer })
    await at.stripe.subscriptions.update(ada.subscription, { default_payment_method: id })
    for (let others = 0; others < 10; others += 1) {
      await at.stripe.subscriptions.create({ customer, items: [{ price: at.prices.pro }] })
    }
    assert.deepEqual((await ada.send('GET', INFO)).body, MASTERCARD)
  })

  it('answers null in every field if there is no method', async () => {
    const ada = await at.addCustomer()
    const [card] = at.double.world.state.tables.paymentMethods.keys()
    await at.stripe.paymentMethods.detach(card ?? '')
    assert.deepEqual((await ada.send('GET', INFO)).body, NONE)
  })

  it('answers the type and last digits of a method that is not a card', async () => {
    const ada = await at.addCustomer()
    const { paymentMethods } = at.double.world.state.tables
    const [made] = paymentMethods.values()
    assert.ok(made)
    const { card: _, ...method } = made
    const account = {
      bank_code: '37040044',
      branch_code: null,
      country: 'DE',
      fingerprint: null,
      generated_from: null,
      last4: '3000',
    }
    paymentMethods.set(made.id, { ...method, type: 'sepa_debit', sepa_debit: account })
    const debit = { ...NONE, brand: 'sepa_debit', last4: '3000' }
    assert.deepEqual((await ada.send('GET', INFO)).body, debit)
    paymentMethods.set(made.id, { ...method, type: 'link', link: { email: null } })
    assert.deepEqual((await ada.send('GET', INFO)).body, { ...NONE, brand: 'link' })
  })
})

describe('POST /v1/billing/setup-intent', () => {
  it('answers the secret that a form needs to add a card, which can then be set', async () => {
    await using at = await makeBillingApp()
    const ada = await at.addSubscriber()
    const { body } = await ada.send('POST', INTENT)
    const [intent] = at.double.world.state.tables.setupIntents.values()
    assert.ok(intent)
    assert.deepEqual(body, { clientSecret: intent.client_secret })
    assert.equal(intent.customer, ada.customer)
    assert.equal(intent.usage, 'off_session')
    const card = await newCard(at)
    const confirmed = await at.stripe.setupIntents.confirm(intent.id, { payment_method: card })
    const paymentMethodId = String(confirmed.payment_method)
    await ada.send('POST', SET, { body: { paymentMethodId } })
    assert.deepEqual((await ada.send('GET', INFO)).body, MASTERCARD)
    assert.deepEqual(
      (await ada.audit()).map(({ action }) => action),
      ['create_setup_intent', 'set_payment_method'],
    )
  })

  it('answers 404 to a user without a billing account', async () => {
    await using at = await makeBillingApp()
    const eve = await at.addUser('eve@example.com')
    assert.equal(codeOf(await eve.send('POST', INTENT)), 'NO_BILLING_ACCOUNT')
  })

  it('answers 503 before anything else if nothing is sold', async () => {
    await using at = await makeBillingApp({ env: { STRIPE_SECRET_KEY: '' } })
    const eve = await at.addUser('eve@example.com')
    const answer = await eve.send('POST', INTENT)
    assert.equal(answer.status, 503)
    assert.equal(codeOf(answer), 'BILLING_NOT_CONFIGURED')
  })
})

describe('POST /v1/billing/payment-method', () => {
  const at = freshly(makeBillingApp)

  it('attaches the method and makes it the default of the customer, which pays for the subscription', async () => {
    const ada = await at.addSubscriber()
    const body = { paymentMethodId: await newCard(at) }
    const first = await ada.send('POST', SET, { body })
    assert.deepEqual(first.body, { success: true })
    // The state after a crash in the middle of the request.
    assert.equal((await ada.send('POST', SET, { body })).status, 200)
    const { default_payment_method } = await at.stripe.subscriptions.retrieve(ada.subscription)
    assert.equal(default_payment_method, null)
    const customer = at.double.world.state.tables.customers.get(ada.customer)
    assert.equal(customer?.invoice_settings.default_payment_method, body.paymentMethodId)
    const { data } = await at.stripe.customers.listPaymentMethods(ada.customer)
    assert.equal(data.length, 2)
  })

  it('refuses methods that are unknown or belong to another customer', async () => {
    const ada = await at.addSubscriber()
    const eve = await at.addSubscriber('eve@example.com')
    const [adasCard] = at.double.world.state.tables.paymentMethods.keys()
    const wrong = [adasCard, 'pm_none', 'pm_', 'card_none', '', '../pm_none', 'pm_%2f', 'pm_é', 1]
    for (const paymentMethodId of wrong) {
      const answer = await eve.send('POST', SET, { body: { paymentMethodId } })
      assert.equal(codeOf(answer), 'BAD_REQUEST', String(paymentMethodId))
    }
    assert.equal((await at.stripe.paymentMethods.retrieve(adasCard ?? '')).customer, ada.customer)
    assert.deepEqual(await eve.audit(), [])
  })

  it('answers PAYMENT_FAILED and changes nothing if the card is declined', async () => {
    const ada = await at.addSubscriber()
    const before = await ada.send('GET', INFO)
    const body = { paymentMethodId: await newCard(at, 'tok_visa_chargeDeclined') }
    const answer = await ada.send('POST', SET, { body })
    assert.equal(answer.status, 400)
    assert.equal(codeOf(answer), 'PAYMENT_FAILED')
    assert.deepEqual((await ada.send('GET', INFO)).body, before.body)
    assert.deepEqual(await ada.audit(), [])
  })

  it('answers 404 without an active subscription', async () => {
    const ada = await at.addCustomer()
    const body = { paymentMethodId: await newCard(at) }
    assert.equal(codeOf(await ada.send('POST', SET, { body })), 'NO_ACTIVE_SUBSCRIPTION')
  })
})
