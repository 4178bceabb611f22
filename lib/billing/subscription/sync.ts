import { givesAccess } from '../../config/entitlement.ts'
import type { Statement } from '../../db/transaction.ts'
import type { Billing } from '../billing.ts'
import type { StripeGateway } from '../stripe/gateway.ts'
import { bumpRevision, type CustomerRow, deleteCustomer, findCustomer } from './customers.ts'
import { hasUnknownPlan, toSubscriptionRow } from './subscription-row.ts'
import {
  deletePreview,
  deleteSubscription,
  findSubscription,
  type SubscriptionRow,
  saveSubscription,
  statusOf,
} from './subscriptions.ts'
import { insertTrials } from './trials.ts'

/** The user's subscription before and after a sync. */
export interface SyncResult {
  readonly before: SubscriptionRow | null
  readonly after: SubscriptionRow | null
  /** Whether the user pays for an unknown plan, such as one whose price is not set. */
  readonly paysForUnknown: boolean
}

const ATTEMPTS = 20

/**
 * Reads the user's subscription from Stripe and stores it, in one transaction with the statements
 * that `alongside` returns. If another sync finishes in the meantime, it drops Stripe's answer and asks
 * again, so that the order of events does not matter.
 */
export async function sync(
  billing: Billing,
  stripe: StripeGateway,
  userId: string,
  alongside: (result: SyncResult) => readonly Statement[] = () => [],
): Promise<SyncResult> {
  for (let attempts = 1; attempts <= ATTEMPTS; attempts++) {
    const customer = await findCustomer(billing.db, userId)
    if (customer === null) return { before: null, after: null, paysForUnknown: false }
    const { statements, ...result } = await prepare(billing, stripe, customer)
    const [first, ...rest] = [...statements, billing.fitKeys(userId), ...alongside(result)]
    if (first !== undefined && (await billing.change([first, ...rest]))) return result
  }
  throw new Error(`The subscription of user ${userId} changes faster than it can be read`)
}

/** The statements change nothing if another sync has finished since `customer` was read. */
async function prepare(billing: Billing, stripe: StripeGateway, customer: CustomerRow) {
  const { db } = billing
  const { userId, customerId } = customer
  const subscriptions = await stripe.findSubscriptions(customerId)
  const before = await findSubscription(db, userId)
  if (subscriptions === null) {
    const statements = [deleteCustomer(db, customer)]
    return { before, after: null, paysForUnknown: false, statements }
  }
  const after = toSubscriptionRow(userId, subscriptions, billing)
  const paysForUnknown = hasUnknownPlan(userId, subscriptions, billing)
  const statements = [
    bumpRevision(db, customer),
    after === null ? deleteSubscription(db, userId) : saveSubscription(db, after),
    ...(isSameItem(before, after) ? [] : [deletePreview(db, userId)]),
    ...insertTrials(db, userId, subscriptions),
  ]
  return { before, after, paysForUnknown, statements }
}

/** A preview is valid only for the same item and price. */
function isSameItem(before: SubscriptionRow | null, after: SubscriptionRow | null): boolean {
  return before?.itemId === after?.itemId && before?.priceId === after?.priceId
}

/** The audit row of what Stripe changed; none if a user would not notice the change. */
export function auditSync(
  { auditStripe }: Billing,
  userId: string,
  { before, after }: SyncResult,
): Statement[] {
  if (summaryOf(before) === summaryOf(after)) return []
  const hasEnded = hasAccess(before) && !hasAccess(after)
  const note = {
    action: hasEnded ? 'subscription_ended' : 'subscription_updated',
    targetType: 'subscription',
    targetId: (after ?? before)?.id ?? null,
    detail: `${summaryOf(before)} to ${summaryOf(after)}`,
  } as const
  return [auditStripe(userId, note)]
}

function hasAccess(row: SubscriptionRow | null): boolean {
  return row !== null && givesAccess(row.status)
}

function summaryOf(row: SubscriptionRow | null): string {
  return row === null ? 'none' : `${row.plan} ${statusOf(row)}`
}
