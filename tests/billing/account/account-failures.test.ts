import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type SubscriptionRow,
  saveSubscription,
} from '../../../lib/billing/subscription/subscriptions.ts'
import { billingAccountOperations } from '../../../lib/contract/billing/billing-account.ts'
import type { ApiFault } from '../../../stripe-double/http/api-faults.ts'
import { codeOf, NOON } from '../../support/helpers.ts'
import { makeBillingApp } from '../customers.ts'
import { billingRequests } from './account-requests.ts'

/** More calls than all actions make. */
const ALL = 200

const FAULTS: readonly ApiFault[] = [
  { kind: '429' },
  { kind: '500' },
  { kind: 'reset' },
  { kind: 'slow', delayMs: 60_000 },
]

function activeSubscription(userId: string): SubscriptionRow {
  const period = { periodStart: NOON, periodEnd: NOON + 1, cancelAt: null }
  const items = {
    id: 'sub_one',
    itemId: 'si_one',
    overages: false,
    overageItemId: null,
    interval: 'month' as const,
    priceId: null,
    currency: null,
    trialEnd: null,
    pendingPrice: null,
    lapsedPrice: null,
  }
  return { userId, plan: 'pro', status: 'active', chargedFrom: '', ...items, ...period }
}

it('billingRequests covers every operation on a billing account', () => {
  assert.deepEqual(
    billingRequests.map(({ id }) => id),
    billingAccountOperations.map(({ id }) => id),
  )
})

describe('operations on a billing account without a Stripe key', () => {
  for (const { id, method, path, body, missing } of billingRequests) {
    it(`${id} answers a user without an account, and does not call Stripe`, async () => {
      await using at = await makeBillingApp({ env: { STRIPE_SECRET_KEY: '' } })
      const { send } = await at.addUser('ada@example.com')
      const answer = await send(method, path, { body })
      if (missing === null) assert.deepEqual(answer.body, {})
      else if (id === 'createSetupIntent') assert.equal(codeOf(answer), 'BILLING_NOT_CONFIGURED')
      else assert.equal(codeOf(answer), missing)
      assert.equal(at.double.calls().length, 0)
    })
  }

  it('answer 503 to a subscriber if they need Stripe', async () => {
    await using at = await makeBillingApp({ env: { STRIPE_SECRET_KEY: '' } })
    const ada = await at.addCustomer()
    await saveSubscription(at.app.services.db, activeSubscription(ada.userId)).run()
    const before = at.double.calls().length
    for (const { id, method, path, body } of billingRequests) {
      const answer = await ada.send(method, path, { body })
      if (id === 'getDiscount') assert.deepEqual(answer.body, {})
      else assert.equal(codeOf(answer), 'BILLING_NOT_CONFIGURED', id)
    }
    assert.equal(at.double.calls().length, before)
  })
})

describe('operations on a billing account that does not exist', () => {
  for (const { id, method, path, body, missing } of billingRequests) {
    it(`${id} answers without a call to Stripe`, async () => {
      await using at = await makeBillingApp()
      const { send, audit } = await at.addUser('ada@example.com')
      const answer = await send(method, path, { body })
      if (missing === null) assert.deepEqual(answer.body, {})
      else assert.equal(codeOf(answer), missing)
      assert.equal(at.double.calls().length, 0)
      assert.deepEqual(await audit(), [])
    })
  }
})

describe('operations on a billing account while Stripe fails', () => {
  for (const fault of FAULTS) {
    it(`answer 503 and change nothing: ${fault.kind}`, async () => {
      await using at = await makeBillingApp(
        fault.kind === 'slow' ? { retryPolicy: { limitMs: 6_000 } } : {},
      )
      const ada = await at.addSubscriber()
      at.double.failCalls(fault, ALL)
      const answers = await Promise.all(
        billingRequests.map(({ method, path, body }) => ada.send(method, path, { body })),
      )
      at.double.clearFaults()
      for (const [index, answer] of answers.entries()) {
        assert.equal(codeOf(answer), 'BILLING_UNAVAILABLE', billingRequests[index]?.id)
      }
      assert.deepEqual(await ada.audit(), [])
      const { status } = await ada.send('GET', '/v1/billing/invoices')
      assert.equal(status, 200)
    })
  }

  it('take effect once if an answer is lost and the user tries again', async () => {
    await using at = await makeBillingApp()
    const ada = await at.addSubscriber()
    const body = { type: 'eu_vat', value: 'DE123456789' }
    at.double.failCalls({ kind: 'lost' })
    await ada.send('POST', '/v1/billing/tax-ids', { body })
    at.double.clearFaults()
    await ada.send('POST', '/v1/billing/tax-ids', { body })
    assert.equal((await at.stripe.customers.listTaxIds(ada.customer)).data.length, 1)
  })

  it('answer 503, not 500, to an unexpected refusal', async () => {
    await using at = await makeBillingApp()
    const ada = await at.addSubscriber()
    const { paymentMethods } = at.double.world.state.tables
    const [card] = paymentMethods.values()
    assert.ok(card)
    // Stripe returns the card, and then refuses it.
    paymentMethods.set('pm_alias', card)
    const body = { paymentMethodId: 'pm_alias' }
    paymentMethods.delete(card.id)
    const answer = await ada.send('POST', '/v1/billing/payment-method', { body })
    assert.equal(codeOf(answer), 'BILLING_UNAVAILABLE')
  })
})
