import type { AuditNote } from '../../contract/account/audit-actions.ts'
import type { Statement } from '../../db/transaction.ts'
import { SECOND_MS } from '../../parts/durations.ts'
import type { Billing } from '../billing.ts'
import { shareMethod } from '../stripe/payment-methods.ts'
import type { Stripe } from '../stripe/stripe-calls.ts'
import { findSubscriptions } from '../stripe/subscriptions.ts'
import {
  bumpRevision,
  type CustomerRow,
  deleteCustomer,
  findCustomer,
  UnknownCustomer,
} from './customers.ts'
import { type MirrorRows, toMirrorRows } from './mirror-rows.ts'
import {
  deletePreview,
  deleteSubscription,
  findSubscription,
  hasAccess,
  type SubscriptionRow,
  saveSubscription,
  statusOf,
  toNote,
} from './subscriptions.ts'
import { insertTrials } from './trials.ts'

/** The user's subscription before and after a sync. */
export interface SyncResult extends Pick<MirrorRows, 'paysForUnknown' | 'duplicates' | 'unpaid'> {
  readonly before: SubscriptionRow | null
  readonly after: SubscriptionRow | null
}

const NOTHING = {
  before: null,
  after: null,
  paysForUnknown: false,
  duplicates: [],
  unpaid: [],
} as const satisfies SyncResult

const REFRESH_INTERVAL_MS = 3 * SECOND_MS
const ATTEMPTS = 20
const CANNOT_SHARE = 'cannot make the card of a checkout that of the customer'

/**
 * Reads the user's subscription from Stripe and stores it, in one transaction with the statements
 * that `alongside` returns. If another sync finishes in the meantime, drops Stripe's answer and reads
 * again, so that the order of events does not matter. If Stripe deleted the customer, the plan ends. If
 * Stripe never had the customer, changes nothing and throws UnknownCustomer.
 */
export async function sync(
  billing: Billing,
  stripe: Stripe,
  userId: string,
  alongside: (result: SyncResult) => readonly Statement[] = () => [],
): Promise<SyncResult> {
  for (let attempts = 1; attempts <= ATTEMPTS; attempts++) {
    const customer = await findCustomer(billing.db, userId)
    if (customer === null) return NOTHING
    const { statements, hasOwnMethod, ...result } = await prepare(billing, stripe, customer)
    const [first, ...rest] = [...statements, billing.alignKeyExpiry(userId), ...alongside(result)]
    if (first === undefined || !(await billing.change([first, ...rest]))) continue
    if (hasOwnMethod && hasAccess(result.after)) {
      const payer = { customerId: customer.customerId, subscriptionId: result.after.id }
      await shareMethod(stripe, payer).catch((error) =>
        billing.onDelayed(error, CANNOT_SHARE, { userId }),
      )
    }
    return result
  }
  throw new Error(`The subscription of user ${userId} changes faster than it can be read`)
}

/** The statements change nothing if another sync has finished since `customer` was read. */
async function prepare(billing: Billing, stripe: Stripe, customer: CustomerRow) {
  const { db } = billing
  const { userId, customerId } = customer
  const subscriptions = await findSubscriptions(stripe, customerId)
  if (subscriptions === 'missing') throw new UnknownCustomer()
  const before = await findSubscription(db, userId)
  if (subscriptions === 'deleted') {
    return { ...NOTHING, before, hasOwnMethod: false, statements: [deleteCustomer(db, customer)] }
  }
  const { row: after, ...others } = toMirrorRows(userId, before, subscriptions, billing)
  const statements = [
    bumpRevision(db, customer),
    after === null ? deleteSubscription(db, userId) : saveSubscription(db, after),
    ...(isSameItem(before, after) ? [] : [deletePreview(db, userId)]),
    ...(await insertTrials(billing, userId, subscriptions)),
  ]
  return { ...others, before, after, statements }
}

/** A preview is valid only for the same item and price. */
function isSameItem(before: SubscriptionRow | null, after: SubscriptionRow | null): boolean {
  return before?.itemId === after?.itemId && before?.priceId === after?.priceId
}

/** The audit rows of the changes that Stripe made; none if the user would not notice them. */
export function auditSync(
  { auditStripe, prices }: Billing,
  userId: string,
  { before, after }: SyncResult,
): Statement[] {
  const others = toLapsedNotes(prices, before, after).map((note) => auditStripe(userId, note))
  if (summaryOf(before) === summaryOf(after)) return others
  const hasEnded = hasAccess(before) && !hasAccess(after)
  const note = {
    action: hasEnded ? 'subscription_ended' : 'subscription_updated',
    targetType: 'subscription',
    targetId: (after ?? before)?.id ?? null,
    detail: `${summaryOf(before)} to ${summaryOf(after)}`,
  } as const
  return [auditStripe(userId, note), ...others]
}

/**
 * Reads the user's subscription from Stripe without waiting for an event. Does nothing if the user has no
 * customer at Stripe, or had a refresh in the last three seconds.
 */
export async function refreshSubscription(
  billing: Billing,
  userId: string,
  now: number,
): Promise<void> {
  const { db, isConfigured, refreshedAt } = billing
  if (!isConfigured || (await findCustomer(db, userId)) === null) return
  if (Math.abs(now - (refreshedAt.get(userId) ?? 0)) < REFRESH_INTERVAL_MS) return
  refreshedAt.set(userId, now)
  await resync(billing, userId)
}

/** Reads the user's subscription from Stripe after everything that is under way for the user. */
export async function resync(billing: Billing, userId: string): Promise<void> {
  const stripe = billing.openStripe()
  await billing.enqueue(userId, () =>
    sync(billing, stripe, userId, (result) => auditSync(billing, userId, result)),
  )
}

/** A change of plan did not happen, because its payment was not confirmed in time. */
function toLapsedNotes(
  prices: Billing['prices'],
  before: SubscriptionRow | null,
  after: SubscriptionRow | null,
): AuditNote[] {
  const waited = before?.pendingPrice ?? null
  if (after === null || waited === null || after.lapsedPrice !== waited) return []
  const offer = prices.offerOf(waited)
  const detail = offer && `${offer.plan.id} by the ${offer.interval}`
  return [toNote('plan_change_lapsed', after, detail)]
}

function summaryOf(row: SubscriptionRow | null): string {
  return row === null ? 'none' : `${row.plan} ${statusOf(row)}`
}
