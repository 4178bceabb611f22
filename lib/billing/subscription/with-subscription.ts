import type Stripe from 'stripe'
import { givesAccess } from '../../config/entitlement.ts'
import { ApiError } from '../../parts/errors.ts'
import type { Billing } from '../billing.ts'
import { findSubscription, type SubscriptionRow } from './subscriptions.ts'
import { sync } from './sync.ts'

type Work<Result> = (
  stripe: Stripe,
  subscription: SubscriptionRow,
  /** The ids of others for which the user pays, too. */
  duplicates: readonly string[],
) => Promise<Result>

/**
 * Runs `work` on the user's subscription as it is at Stripe now. Throws NO_ACTIVE_SUBSCRIPTION if no
 * subscription gives access. If our database has none, it does not ask Stripe.
 */
export function withSubscription<Result>(
  billing: Billing,
  userId: string,
  work: Work<Result>,
): Promise<Result> {
  return withRequired(billing, userId, { require: requireActive, work })
}

/** Like `withSubscription`, but also for a subscription that gives no access until it is paid. */
export function withUnpaidSubscription<Result>(
  billing: Billing,
  userId: string,
  work: Work<Result>,
): Promise<Result> {
  return withRequired(billing, userId, { require: requireAny, work })
}

async function withRequired<Result>(
  billing: Billing,
  userId: string,
  { require, work }: { readonly require: typeof requireAny; readonly work: Work<Result> },
): Promise<Result> {
  require(await findSubscription(billing.db, userId))
  const stripe = billing.openStripe()
  return billing.enqueue(userId, async () => {
    const { after, duplicates } = await sync(billing, stripe, userId)
    return work(stripe, require(after), duplicates)
  })
}

/** Throws NO_ACTIVE_SUBSCRIPTION unless the subscription gives access. */
export function requireActive(row: SubscriptionRow | null): SubscriptionRow {
  if (row !== null && givesAccess(row.status)) return row
  return requireAny(null)
}

function requireAny(row: SubscriptionRow | null): SubscriptionRow {
  if (row !== null) return row
  throw new ApiError('NO_ACTIVE_SUBSCRIPTION', 'There is no active subscription')
}
