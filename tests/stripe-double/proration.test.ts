import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type Stripe from 'stripe'
import { addPayer, DAY, startDouble } from './start.ts'

const CENTS = { starter: 900, pro: 2900 }

const Changes = fc.array(
  fc.record({ waitSeconds: fc.nat(6 * DAY), plan: fc.constantFrom('starter', 'pro') }),
  { minLength: 1, maxLength: 4 },
)

describe('proration', () => {
  it('charges the previewed amounts, so that each plan is paid for the time it was used', async () => {
    await fc.assert(
      fc.asyncProperty(Changes, async (changes) => {
        await using at = await startDouble()
        const { double, stripe } = at
        const customer = await addPayer(stripe)
        const made = await stripe.subscriptions.create({ customer, items: [{ price: at.pro }] })
        const [item] = made.items.data
        const { id = '', current_period_start: start = 0, current_period_end: end = 0 } = item ?? {}
        const cost = (plan: keyof typeof CENTS, from: number, to: number) =>
          (CENTS[plan] * (to - from)) / (end - start)
        let [plan, since, expected] = ['pro' as keyof typeof CENTS, start, 0]
        for (const { waitSeconds, plan: next } of changes) {
          double.advance(waitSeconds)
          const items = [{ id, price: at[next] }]
          const date = double.now()
          const behavior = 'always_invoice' as const
          const change = { items, proration_behavior: behavior, proration_date: date }
          const preview = await stripe.invoices.createPreview({
            subscription: made.id,
            subscription_details: change,
          })
          double.advance(30)
          const updated = await stripe.subscriptions.update(made.id, {
            ...change,
            expand: ['latest_invoice'],
          })
          const charged = updated.latest_invoice as Stripe.Invoice // safe: it is expanded
          if (next !== plan) {
            assert.equal(charged.amount_paid, preview.amount_due)
            assert.equal(charged.total, preview.total)
          }
          expected += cost(plan, since, date)
          plan = next
          since = date
        }
        expected += cost(plan, since, end)
        const invoices = await stripe.invoices.list({ customer, limit: 100 })
        const billed = invoices.data.reduce((sum, { total }) => sum + total, 0)
        assert.ok(Math.abs(billed - expected) <= changes.length, `${billed}, not ${expected}`)
      }),
      { numRuns: 15 },
    )
  })
})
