import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { closedAfterTest } from '../support/scene/freshly.ts'
import { addPayer, DAY, startDouble, typesOf } from './start.ts'

const closed = closedAfterTest()

const Answered = v.object({
  id: v.string(),
  amount_refunded: v.optional(v.number()),
  status: v.optional(v.string()),
})

async function openWithInvoice() {
  const at = closed(await startDouble())
  const customer = await addPayer(at.stripe)
  const { id, latest_invoice } = await at.stripe.subscriptions.create({
    customer,
    items: [{ price: at.pro }],
  })
  return { at, customer, subscription: id, invoice: String(latest_invoice) }
}

describe('a refund', () => {
  it('adds up to the payment, and sends charge.refunded', async () => {
    const { at, customer, invoice } = await openWithInvoice()
    const { id } = at.double.refundInvoice(invoice, 900)
    const partly = await at.stripe.charges.retrieve(id)
    assert.deepEqual([partly.amount_refunded, partly.refunded], [900, false])
    assert.equal(partly.customer, customer)
    at.double.refundInvoice(invoice)
    const whole = await at.stripe.charges.retrieve(id)
    assert.deepEqual([whole.amount_refunded, whole.refunded], [2900, true])
    assert.throws(() => at.double.refundInvoice(invoice, 1), /unrefunded amount/)
    await at.double.settled()
    const refunds = typesOf(at.received).filter((type) => type === 'charge.refunded')
    assert.equal(refunds.length, 2)
  })
})

describe('a dispute', () => {
  it('leads from its charge to the invoice that was paid', async () => {
    const { at, invoice } = await openWithInvoice()
    const { id } = at.double.disputeInvoice(invoice)
    const dispute = await at.stripe.disputes.retrieve(id, { expand: ['charge'] })
    assert.equal(dispute.status, 'needs_response')
    assert.ok(typeof dispute.charge === 'object' && dispute.charge.disputed)
    const { data } = await at.stripe.invoicePayments.list({
      payment: { type: 'payment_intent', payment_intent: String(dispute.payment_intent) },
    })
    assert.deepEqual(
      data.map((payment) => payment.invoice),
      [invoice],
    )
  })

  it('is closed over HTTP, too', async () => {
    const { at, invoice } = await openWithInvoice()
    const post = async (path: string, body: object) => {
      const answer = await fetch(`${at.double.url}/_double/${path}`, {
        method: 'POST',
        body: JSON.stringify(body),
      })
      return v.parse(Answered, await answer.json())
    }
    const { amount_refunded } = await post(`invoices/${invoice}/refund`, { amount: 100 })
    assert.equal(amount_refunded, 100)
    const { id } = await post(`invoices/${invoice}/dispute`, {})
    assert.equal((await post(`disputes/${id}/close`, { status: 'lost' })).status, 'lost')
    await at.double.settled()
    assert.ok(typesOf(at.received).includes('charge.dispute.closed'))
  })
})

describe('the list of events', () => {
  it('has those of the last 30 days, by type and time, delivered or not', async () => {
    const { at, invoice } = await openWithInvoice()
    at.double.switchDeliveries('drop', 10)
    at.double.refundInvoice(invoice, 1)
    at.double.advance(10)
    at.double.refundInvoice(invoice, 1)
    const count = async (since = 0) => {
      const params = { types: ['charge.refunded'], created: { gte: since } }
      return (await at.stripe.events.list(params)).data.length
    }
    assert.equal(await count(), 2)
    assert.equal(await count(at.double.now()), 1)
    at.double.advance(31 * DAY)
    assert.equal(await count(), 0)
  })
})

describe('the end of a subscription with proration', () => {
  it('credits the unused time to the customer', async () => {
    const { at, customer, subscription } = await openWithInvoice()
    at.double.advance(11 * DAY)
    await at.stripe.subscriptions.cancel(subscription, { prorate: true, invoice_now: true })
    const found = await at.stripe.customers.retrieve(customer)
    assert.ok(!found.deleted)
    assert.equal(found.balance, -Math.round((2900 * 20) / 31))
  })

  it('is refused without an invoice, which the double does not support', async () => {
    const { at, subscription } = await openWithInvoice()
    const canceled = at.stripe.subscriptions.cancel(subscription, { prorate: true })
    await assert.rejects(canceled, /only together/)
  })
})
