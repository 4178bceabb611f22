import { DAY_MS } from '../../parts/durations.ts'
import type { Billing } from '../billing.ts'
import type { Leftover } from '../stripe/leftovers.ts'
import { findCustomer } from './customers.ts'
import { findSubscription, hasAccess } from './subscriptions.ts'

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
    let after: string | null = null
    try {
      do {
        const page = await openStripe().listLeftovers(status, customer, after)
        for (const one of page.leftovers) {
          const { userId, subscriptionId: subscription } = one
          const about = { userId, subscription }
          await settle(billing, one, now).catch((error) => onDelayed(error, CANNOT_SETTLE, about))
        }
        after = page.next
      } while (after !== null)
    } catch (error) {
      onDelayed(error, 'cannot list what ended subscriptions have left', {})
    }
  }
}

const CANNOT_SETTLE = 'cannot settle an invoice of an ended subscription'

async function settle(billing: Billing, leftover: Leftover, now: number): Promise<void> {
  const { id, status, auto_advance: isCollected } = leftover.invoice
  const isDue = !isCollected && leftover.endedAt > now - LATELY_MS
  const isReplaced = status === 'open' && (await hasBoughtAgain(billing, leftover))
  if (!isDue && !isReplaced) return
  const stripe = billing.openStripe()
  const { usage, fees } = await stripe.sortLines(leftover, billing.overagePrice)
  if (usage.length > 0 && isDue) await stripe.collect(leftover, status === 'draft' ? fees : [])
  if (usage.length === 0 && isReplaced) await stripe.voidInvoice(id)
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
