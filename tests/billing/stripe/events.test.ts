import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { subjectOf } from '../../../lib/billing/stripe/events.ts'

const customer = 'cus_1'
const metadata = { meridian_user: 'user-1' }
const ofCustomer = { customer, user: null }
const named = { customer, user: 'user-1' }

type Row = readonly [type: string, data: Parameters<typeof subjectOf>[0]['data'], subject: unknown]

const TABLE: readonly Row[] = [
  ['customer.subscription.updated', { object: { id: 'sub_1', customer, metadata } }, named],
  ['customer.subscription.deleted', { object: { customer, metadata: {} } }, ofCustomer],
  ['customer.subscription.paused', { object: { customer: { id: customer }, metadata } }, named],
  ['checkout.session.completed', { object: { customer, metadata } }, named],
  [
    'checkout.session.completed',
    { object: { customer, client_reference_id: 'user-1' } },
    ofCustomer,
  ],
  ['checkout.session.completed', { object: { customer: null, metadata } }, null],
  ['checkout.session.expired', { object: { customer, metadata } }, null],
  ['invoice.paid', { object: { id: 'in_1', customer } }, ofCustomer],
  ['invoice.payment_failed', { object: { customer: { id: customer } } }, ofCustomer],
  ['customer.updated', { object: { id: customer, metadata } }, named],
  ['charge.refunded', { object: { id: 'ch_1', customer, metadata } }, null],
  ['customer.deleted', { object: { id: customer } }, ofCustomer],
  ['customer.discount.created', { object: { id: 'di_1', customer } }, null],
  ['payment_method.attached', { object: { id: 'pm_1', customer } }, null],
  ['customer.created', { object: { id: customer } }, null],
  ['price.updated', { object: { id: 'price_1', customer } }, null],
  ['something.else', { object: {} }, null],
  ['invoice.paid', { object: { customer: '' } }, null],
  ['invoice.paid', { object: { customer: 7 } }, null],
]

describe('the subject of an event', () => {
  for (const [type, data, subject] of TABLE) {
    it(`is ${JSON.stringify(subject)} for ${type} with ${JSON.stringify(data)}`, () => {
      assert.deepEqual(subjectOf({ id: 'evt_1', type, data }), subject)
    })
  }
})
