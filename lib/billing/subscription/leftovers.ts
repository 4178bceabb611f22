import { givesAccess } from '../../config/entitlement.ts'
import { DAY_MS } from '../../parts/durations.ts'
import type { Billing } from '../billing.ts'
import { USER_FIELD } from '../stripe/metadata.ts'
import { eachOf, idOf, type Stripe } from '../stripe/stripe-calls.ts'
import { findCustomer } from './customers.ts'
import { findSubscription, hasAccess } from './subscriptions.ts'

/** A draft or an open invoice that a subscription of ours without access has left. */
export type Leftover = ReturnType<typeof toLeftovers>[number]

/** Events come for three days; a reconciliation runs every hour. */
const LATELY_MS = 4 * DAY_MS

/**
 * Settles what subscriptions without access have left to one customer or to all (null). Stripe collects
 * nothing any more ("automatic collection for all unpaid invoices is disabled":
 * https://docs.stripe.com/billing/subscriptions/overview), so we let it collect the requests over the cap, for
 * four days. Other open invoices become void once the user has bought a plan again. Nobody waits for it: a
 * failure is logged and does not hold up the other invoices, and the hourly run repeats it.
 */
export async function settleLeftovers(
  billing: Billing,
  customer: string | null,
  now: number,
): Promise<void> {
  const { openStripe, onDelayed } = billing
  for (const status of ['draft', 'open'] as const) {
    try {
      // Each page has its own time limit.
      for await (const one of listLeftovers(openStripe, status, customer)) {
        const about = { userId: one.userId, subscription: one.subscriptionId }
        await settle(billing, one, now).catch((error) => onDelayed(error, CANNOT_SETTLE, about))
      }
    } catch (error) {
      onDelayed(error, 'cannot list what ended subscriptions have left', {})
    }
  }
}

/** What one customer or all (null) left. */
export async function* listLeftovers(
  openStripe: Billing['openStripe'],
  status: 'draft' | 'open',
  customer: string | null,
): AsyncGenerator<Leftover> {
  const expand = ['data.parent.subscription_details.subscription']
  const params = { status, expand, ...(customer !== null && { customer }) }
  const invoices = eachOf((page) => openStripe().invoices.list({ ...params, ...page }))
  for await (const invoice of invoices) yield* toLeftovers(invoice)
}

/** Empty unless the invoice is of a subscription of ours without access. Expects it expanded. */
function toLeftovers(invoice: Stripe.Invoice) {
  const { subscription, metadata } = invoice.parent?.subscription_details ?? {}
  const userId = metadata?.[USER_FIELD]
  if (!userId || typeof subscription !== 'object' || givesAccess(subscription.status)) return []
  const { id: subscriptionId, ended_at } = subscription
  const customerId = idOf(subscription.customer)
  return [{ invoice, userId, customerId, subscriptionId, endedAt: (ended_at ?? 0) * 1000 }]
}

const CANNOT_SETTLE = 'cannot settle an invoice of an ended subscription'

async function settle(billing: Billing, leftover: Leftover, now: number): Promise<void> {
  const { id, status, auto_advance: isCollected } = leftover.invoice
  const isDue = !isCollected && leftover.endedAt > now - LATELY_MS
  const isReplaced = status === 'open' && (await hasBoughtAgain(billing, leftover))
  if (!isDue && !isReplaced) return
  const stripe = billing.openStripe()
  const { usage, fees } = await sortLines(stripe, leftover)
  if (usage.length > 0 && isDue) await collect(stripe, id, status === 'draft' ? fees : [])
  if (usage.length === 0 && isReplaced) await stripe.invoices.voidInvoice(id)
}

/** Whether the user of the invoice pays for another subscription now. */
async function hasBoughtAgain(
  { db }: Billing,
  { userId, customerId, subscriptionId }: Leftover,
): Promise<boolean> {
  const row = await findSubscription(db, userId)
  if (!hasAccess(row) || row.id === subscriptionId) return false
  return (await findCustomer(db, userId))?.customerId === customerId
}

/** The ids of the lines for usage, and of those for a time that goes on after the end. */
export async function sortLines(stripe: Stripe, { invoice, endedAt }: Leftover) {
  const { id, status } = invoice
  // An invoice shows only its first lines. Which of them are for usage, only their prices say.
  const expand = ['data.pricing.price_details.price']
  const read = eachOf((page) => stripe.invoices.listLineItems(id, { expand, ...page }))
  const lines = await Array.fromAsync(read)
  const usage = lines.filter(
    // A draft still gets the last units.
    (line) => isUsage(line) && (status === 'draft' || line.quantity !== 0),
  )
  const fees = lines.filter(
    (line) => !isUsage(line) && line.amount > 0 && line.period.end * 1000 > endedAt,
  )
  return { usage: usage.map((line) => line.id), fees: fees.map((line) => line.id) }
}

function isUsage({ pricing }: Stripe.InvoiceLineItem): boolean {
  const price = pricing?.price_details?.price
  return typeof price === 'object' && price.recurring?.usage_type === 'metered'
}

/**
 * Lets Stripe collect the invoice, without the lines in `fees`. Stripe finalizes a draft an hour later, when
 * it has the last units: https://docs.stripe.com/invoicing/integration/automatic-advancement-collection
 */
export async function collect(stripe: Stripe, id: string, fees: readonly string[]): Promise<void> {
  const lines = fees.map((line) => ({ id: line, behavior: 'delete' as const }))
  if (lines.length > 0) await stripe.invoices.removeLines(id, { lines })
  await stripe.invoices.update(id, { auto_advance: true })
}
