import { subscriptions } from '../../db/billing-tables.ts'
import { and, eq, isNotNull } from '../../db/drizzle.ts'
import type { Billing } from '../billing.ts'
import type { Stripe } from '../stripe/stripe-calls.ts'
import { findCustomer } from '../subscription/customers.ts'
import { auditSync, sync } from '../subscription/sync.ts'
import { readMeter } from './meter.ts'
import { listUnreported, listUnsent } from './overage-store.ts'

interface Removal {
  readonly billing: Billing
  /** Sends everything that was counted for the user. */
  readonly reportAll: (userId: string) => Promise<void>
  /** Epoch milliseconds. */
  readonly now: () => number
}

/**
 * Removes the items of overages that are off, so that the interval is free to choose again. Stripe then charges
 * what they have counted: so an item waits until the meter has all units. A failure is logged; the hourly run
 * repeats it.
 */
export async function removeUnusedItems(removal: Removal): Promise<void> {
  const { overages, overageItemId, status, userId } = subscriptions
  const isUnused = and(eq(overages, false), isNotNull(overageItemId), eq(status, 'active'))
  const { db } = removal.billing
  const unused = await db.select({ userId }).from(subscriptions).where(isUnused).all()
  for (const row of unused) await removeUnusedItem(removal, row.userId)
}

/** Does the same for one user. */
export async function removeUnusedItem(
  { billing, reportAll, now }: Removal,
  userId: string,
): Promise<void> {
  const { db, enqueue, onDelayed } = billing
  const remove = async () => {
    const stripe = billing.openStripe()
    const { after: row } = await sync(billing, stripe, userId)
    if (row?.status !== 'active' || row.overages || row.overageItemId === null) return
    await reportAll(userId)
    const left = [...(await listUnsent(db, userId)), ...(await listUnreported(db, userId))]
    // A draft gets the last units of its period while the item is there.
    if (left.length > 0 || (await hasDraft(stripe, row.id))) return
    const { customerId } = (await findCustomer(db, userId)) ?? {}
    const time = { start: row.periodStart, end: now() }
    const { metered, sent } = await readMeter(billing, stripe, customerId ?? '', time)
    if (metered < sent) return
    await removeItem(stripe, row.id, row.overageItemId)
    await sync(billing, stripe, userId, (result) => auditSync(billing, userId, result))
  }
  await enqueue(userId, remove).catch((error) => onDelayed(error, CANNOT_REMOVE, { userId }))
}

const CANNOT_REMOVE = 'cannot remove the price of overages that are off'

/** Whether an invoice of the subscription may still change. */
async function hasDraft(stripe: Stripe, subscription: string): Promise<boolean> {
  const drafts = await stripe.invoices.list({ subscription, status: 'draft', limit: 1 })
  return drafts.data.length > 0
}

/**
 * Removes the metered item. Stripe charges its usage now, unless there are no prorations:
 * https://docs.stripe.com/billing/subscriptions/usage-based/manage-billing-setup
 */
export async function removeItem(stripe: Stripe, subscription: string, id: string): Promise<void> {
  const items = [{ id, deleted: true }]
  await stripe.subscriptions.update(subscription, { items, proration_behavior: 'always_invoice' })
}
