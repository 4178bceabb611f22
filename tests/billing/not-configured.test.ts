import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { insertCustomer } from '../../lib/billing/subscription/customers.ts'
import {
  type SubscriptionRow,
  saveSubscription,
} from '../../lib/billing/subscription/subscriptions.ts'
import { readValue } from '../support/database/sql.ts'
import { codeOf, NOON } from '../support/helpers.ts'
import { sharedScene } from '../support/scene/scene.ts'
import { SUBSCRIPTION } from './shop.ts'

/** Requests, and their answers without a subscription and with one that was bought before. */
const TABLE = [
  ['GET', SUBSCRIPTION, undefined, '200', '200'],
  ['POST', SUBSCRIPTION, { planId: 'pro' }, 'BILLING_NOT_CONFIGURED', 'BILLING_NOT_CONFIGURED'],
  ['POST', SUBSCRIPTION, { planId: 'free' }, 'BAD_REQUEST', 'BAD_REQUEST'],
  ['PUT', SUBSCRIPTION, { planId: 'pro' }, 'NO_ACTIVE_SUBSCRIPTION', 'BILLING_NOT_CONFIGURED'],
  ['DELETE', SUBSCRIPTION, undefined, 'NO_ACTIVE_SUBSCRIPTION', 'BILLING_NOT_CONFIGURED'],
  [
    'GET',
    `${SUBSCRIPTION}/preview?planId=pro`,
    undefined,
    'NO_ACTIVE_SUBSCRIPTION',
    'BILLING_NOT_CONFIGURED',
  ],
  [
    'POST',
    `${SUBSCRIPTION}/reactivate`,
    undefined,
    'NO_ACTIVE_SUBSCRIPTION',
    'BILLING_NOT_CONFIGURED',
  ],
] as const

const BOUGHT: Omit<SubscriptionRow, 'userId'> = {
  id: 'sub_1',
  itemId: 'si_1',
  plan: 'starter',
  status: 'active',
  periodStart: NOON,
  periodEnd: NOON + 1,
  cancelAt: null,
  overages: false,
  overageItemId: null,
  chargedFrom: '',
  interval: 'month' as const,
  priceId: null,
  currency: null,
  trialEnd: null,
  pendingPrice: null,
  lapsedPrice: null,
}

const app = sharedScene({}, async () => {
  await ada.key({ plan: 'free' })
})
const ada = app.user('ada')

async function answers(): Promise<string[]> {
  const all: string[] = []
  for (const [method, path, body] of TABLE) {
    const answer = await ada.send(method, path, body)
    all.push(answer.status === 200 ? '200' : codeOf(answer))
  }
  return all
}

describe('billing without a Stripe key', () => {
  it('answers from the database where it can, and 503 to everything else', async () => {
    assert.deepEqual(
      await answers(),
      TABLE.map(([, , , unsubscribed]) => unsubscribed),
    )
    const { db, keys } = app.services
    const userId = String(await readValue(app, 'SELECT id FROM users'))
    await keys.change([
      insertCustomer(db, { userId, customerId: 'cus_1', createdAt: NOON }),
      saveSubscription(db, { userId, ...BOUGHT }),
    ])
    assert.deepEqual(
      await answers(),
      TABLE.map(([, , , , subscribed]) => subscribed),
    )
  })

  it('does nothing when it reconciles', async () => {
    await app.services.reconciliation.run()
  })
})
