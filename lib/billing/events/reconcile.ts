import { setImmediate as nextTurn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Billing } from '../billing.ts'
import type { StripeSubscription } from '../stripe/stripe-subscription.ts'
import { findOrClaim, listCustomers } from '../subscription/customers.ts'
import { hasUnknownPlan, toSubscriptionRow } from '../subscription/subscription-row.ts'
import { findSubscription } from '../subscription/subscriptions.ts'
import { auditSync, sync } from '../subscription/sync.ts'

export interface ReconcileOptions {
  /** Epoch milliseconds. */
  readonly now: number
  /** Called for each user whose subscription could not be compared; the run continues. */
  readonly onFailure: (error: unknown, userId: string) => void
  /** Called if an unknown customer cannot be stored: its user has another customer, or is deleted. */
  readonly onUnclaimed: (customer: string) => void
  /** Called for a user who pays but gets no plan, since no setting names the price. */
  readonly onUnknownPlan: (userId: string) => void
  readonly isStopped: () => boolean
}

/**
 * Compares all subscriptions at Stripe with ours, and syncs those that differ. This repairs the effects
 * of missed events and restored backups. It pauses after each customer, so that requests do not wait.
 */
export async function reconcile(billing: Billing, options: ReconcileOptions): Promise<void> {
  const all = await listSubscriptions(billing, options)
  const byCustomer = Map.groupBy(all, ({ customerId }) => customerId)
  await claimAll(billing, byCustomer, options)
  for (const { userId, customerId } of await listCustomers(billing.db)) {
    await nextTurn()
    if (options.isStopped()) return
    const subscriptions = byCustomer.get(customerId) ?? []
    if (hasUnknownPlan(userId, subscriptions, billing)) options.onUnknownPlan(userId)
    try {
      await compare(billing, userId, subscriptions)
    } catch (error) {
      options.onFailure(error, userId)
    }
  }
}

/** All subscriptions that are not canceled. Each page has its own time limit. */
async function listSubscriptions(
  billing: Billing,
  { isStopped }: ReconcileOptions,
): Promise<StripeSubscription[]> {
  const all: StripeSubscription[] = []
  let after: string | null = null
  do {
    const page = await billing.openStripe().listSubscriptions(after)
    all.push(...page.subscriptions)
    after = page.next
  } while (after !== null && !isStopped())
  return all
}

async function claimAll(
  billing: Billing,
  byCustomer: ReadonlyMap<string, readonly StripeSubscription[]>,
  { now, onUnclaimed }: ReconcileOptions,
): Promise<void> {
  for (const [customer, subscriptions] of byCustomer) {
    await nextTurn()
    const user = subscriptions.map(({ userId }) => userId).find((id) => id !== null) ?? null
    const owner = await findOrClaim(billing, { customer, user }, now)
    if (owner === null && user !== null) onUnclaimed(customer)
  }
}

/** If the subscription differs, reads it again: it may have changed since it was listed. */
async function compare(
  billing: Billing,
  userId: string,
  subscriptions: readonly StripeSubscription[],
): Promise<void> {
  const ours = await findSubscription(billing.db, userId)
  if (isDeepStrictEqual(ours, toSubscriptionRow(userId, subscriptions, billing))) return
  const stripe = billing.openStripe()
  await billing.enqueue(userId, () =>
    sync(billing, stripe, userId, (result) => auditSync(billing, userId, result)),
  )
}
