import type { Plan } from '../../config/plans.ts'
import type { CancelResponse } from '../../contract/billing/billing-schemas.ts'
import { ApiError } from '../../parts/errors.ts'
import { type Actor, type Billing, notConfigured } from '../billing.ts'
import { refreshOveragePrice } from '../overages/overage-price.ts'
import {
  describeTerms,
  requireNoTrial,
  requireOverages,
  requirePaidRenewal,
} from '../overages/spending-cap.ts'
import type { Stripe } from '../stripe/stripe-calls.ts'
import { cancelAtPeriodEnd, switchOverages, undoCancellation } from '../stripe/subscriptions.ts'
import { findSubscription, type SubscriptionRow, toNote } from './subscriptions.ts'
import { sync } from './sync.ts'
import { requireActive, withSubscription } from './with-subscription.ts'

/** Cancels the subscription at the end of its period, unless it is already canceled. */
export function cancelSubscription(billing: Billing, actor: Actor): Promise<CancelResponse> {
  return withSubscription(billing, actor.userId, async (stripe, row) => {
    if (row.cancelAt !== null) return toCanceling(row)
    await cancelAtPeriodEnd(stripe, row.id)
    const note = toNote('cancel_subscription', row, row.plan)
    return toCanceling(await saveChange(billing, stripe, actor, note))
  })
}

/** Undoes a cancellation that was made here or in the customer portal. */
export function reactivateSubscription(billing: Billing, actor: Actor): Promise<void> {
  return withSubscription(billing, actor.userId, async (stripe, row) => {
    if (row.cancelAt === null) return
    await undoCancellation(stripe, row.id)
    const note = toNote('reactivate_subscription', row, row.plan)
    await saveChange(billing, stripe, actor, note)
  })
}

/**
 * Switches overages on or off; `plan` is the plan in effect. Returns whether they are on. Switching
 * them off keeps the subscription item that charges for them until it has charged the units used so far.
 * Throws PLAN_REQUIRED if the plan has no overages, and PAYMENT_FAILED if a renewal is not paid.
 */
export async function setOverages(
  billing: Billing,
  actor: Actor,
  plan: Plan,
  wanted: 'on' | 'off',
): Promise<boolean> {
  requireOverages(billing, { plan, interval: 'month' })
  requireActive(await findSubscription(billing.db, actor.userId))
  const { overagePrice } = billing
  if (overagePrice === undefined) throw notConfigured()
  // Nobody can agree to a price that we do not know.
  if (wanted === 'on') await refreshOveragePrice(billing, actor.now)
  return withSubscription(billing, actor.userId, async (stripe, row, { duplicates }) => {
    requireOverages(billing, { plan: billing.plans.ofUser(row.plan), interval: row.interval })
    requireNoTrial(row)
    if (row.overages === (wanted === 'on')) return row.overages
    if (wanted === 'on') {
      requirePaidRenewal(row)
      requireSingle(duplicates)
    }
    const detail = wanted === 'on' ? `on: ${await describeTerms(billing, row)}` : wanted
    const added = row.overageItemId === null ? overagePrice : null
    await switchOverages(stripe, row.id, wanted, added)
    return (await saveChange(billing, stripe, actor, toNote('set_overages', row, detail))).overages
  })
}

/** A meter counts per customer: each subscription with a metered price would charge every unit. */
function requireSingle(duplicates: readonly string[]): void {
  if (duplicates.length === 0) return
  throw new ApiError(
    'BAD_REQUEST',
    'You pay for two subscriptions: end the other in the customer portal before you turn on overages',
  )
}

/** Stores the subscription as Stripe has it after a change, together with the audit row. */
export async function saveChange(
  billing: Billing,
  stripe: Stripe,
  actor: Actor,
  note: ReturnType<typeof toNote>,
): Promise<SubscriptionRow> {
  const { after } = await sync(billing, stripe, actor.userId, () => [actor.audit(note)])
  return requireActive(after)
}

function toCanceling({ cancelAt }: SubscriptionRow): CancelResponse {
  return {
    status: 'canceling',
    cancelAt: cancelAt === null ? null : new Date(cancelAt).toISOString(),
  }
}
