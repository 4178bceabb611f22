import type { Plan } from '../../config/plans.ts'
import type {
  CancelResponse,
  ProrationPreview,
  ReactivateResponse,
} from '../../contract/billing/billing-schemas.ts'
import { HOUR_MS } from '../../durations.ts'
import { ApiError } from '../../errors.ts'
import { type Actor, type Billing, notConfigured } from '../billing.ts'
import { getPrice } from '../plan-prices.ts'
import type { StripeGateway } from '../stripe/gateway.ts'
import type { PriceChange } from '../stripe/subscriptions.ts'
import {
  findPreview,
  findSubscription,
  type SubscriptionRow,
  savePreview,
  toNote,
} from './subscriptions.ts'
import { sync } from './sync.ts'
import { requireActive, withSubscription } from './with-subscription.ts'

/** Returns what the change would cost now. For an hour, the change costs exactly that. */
export function previewPlanChange(
  billing: Billing,
  { userId, now }: Pick<Actor, 'userId' | 'now'>,
  plan: Plan,
): Promise<ProrationPreview> {
  return withSubscription(billing, userId, async (stripe, row) => {
    const prorationAt = clampToPeriod(row, now)
    const answer = { planId: plan.id, prorationDate: new Date(prorationAt).toISOString() }
    if (row.plan === plan.id) {
      return { ...answer, currency: await stripe.getCurrency(row.id), amountDue: 0, lines: [] }
    }
    const cost = await stripe.previewPrice(
      toPriceChange(row, getPrice(billing.prices, plan), prorationAt),
    )
    await billing.change([savePreview(billing.db, { userId, plan: plan.id, prorationAt })])
    return { ...answer, ...cost }
  })
}

/**
 * Changes the plan at once, and charges or credits the rest of the period. If the card is declined,
 * changes nothing and throws PAYMENT_FAILED.
 */
export function changePlan(billing: Billing, actor: Actor, plan: Plan): Promise<SubscriptionRow> {
  return withSubscription(billing, actor.userId, async (stripe, row) => {
    if (row.plan === plan.id) return row
    const prorationAt = await findPreviewTime(billing, actor, plan)
    const change = toPriceChange(row, getPrice(billing.prices, plan), prorationAt)
    await stripe.changePrice(change, billing.prices.allowsOverages(plan.id) ? 'keep' : 'off')
    const note = toNote('change_plan', row, `${row.plan} to ${plan.id}`)
    return finish(billing, stripe, actor, note)
  })
}

/** Cancels the subscription at the end of its period, unless it is already canceled. */
export function cancelSubscription(billing: Billing, actor: Actor): Promise<CancelResponse> {
  return withSubscription(billing, actor.userId, async (stripe, row) => {
    if (row.cancelAt !== null) return toCanceling(row)
    await stripe.cancelAtPeriodEnd(row.id)
    const note = toNote('cancel_subscription', row, row.plan)
    return toCanceling(await finish(billing, stripe, actor, note))
  })
}

/** Takes back a cancellation that was made here or in the customer portal. Returns the status at Stripe. */
export function reactivateSubscription(
  billing: Billing,
  actor: Actor,
): Promise<ReactivateResponse['status']> {
  return withSubscription(billing, actor.userId, async (stripe, row) => {
    if (row.cancelAt === null) return toContinuing(row)
    await stripe.undoCancellation(row.id)
    const note = toNote('reactivate_subscription', row, row.plan)
    return toContinuing(await finish(billing, stripe, actor, note))
  })
}

/**
 * Switches overages on or off; `plan` is the plan in effect. Returns whether they are on. Switching
 * them off keeps the subscription item that charges for them, since it must still charge the units used
 * so far. Throws PLAN_REQUIRED if the plan has no overages.
 */
export async function setOverages(
  billing: Billing,
  actor: Actor,
  plan: Plan,
  wanted: 'on' | 'off',
): Promise<boolean> {
  requireOverages(billing, plan.id)
  requireActive(await findSubscription(billing.db, actor.userId))
  const { overagePrice } = billing
  if (overagePrice === undefined) throw notConfigured()
  return withSubscription(billing, actor.userId, async (stripe, row) => {
    requireOverages(billing, row.plan)
    if (row.overages === (wanted === 'on')) return row.overages
    await stripe.setOverages(row.id, wanted, row.overageItemId === null ? overagePrice : null)
    return (await finish(billing, stripe, actor, toNote('set_overages', row, wanted))).overages
  })
}

/** Stores the subscription as Stripe has it after a change, together with the audit row. */
async function finish(
  billing: Billing,
  stripe: StripeGateway,
  actor: Actor,
  note: ReturnType<typeof toNote>,
): Promise<SubscriptionRow> {
  const { after } = await sync(billing, stripe, actor.userId, () => [actor.audit(note)])
  return requireActive(after)
}

function toPriceChange(
  row: SubscriptionRow,
  price: string,
  prorationAt: number | null,
): PriceChange {
  const isInPeriod = prorationAt !== null && prorationAt >= row.periodStart
  const { id: subscriptionId, itemId } = row
  return { subscriptionId, itemId, price, prorationAt: isInPeriod ? prorationAt : null }
}

/** Returns null if the last preview is for another plan or too old. */
async function findPreviewTime(
  { db }: Billing,
  { userId, now }: Actor,
  plan: Plan,
): Promise<number | null> {
  const preview = await findPreview(db, userId)
  const isValid = preview?.plan === plan.id && now - preview.prorationAt <= HOUR_MS
  return isValid ? preview.prorationAt : null
}

/** Now in whole seconds, limited to the period: our clock may differ from Stripe's. */
function clampToPeriod({ periodStart, periodEnd }: SubscriptionRow, now: number): number {
  const second = Math.floor(now / 1000) * 1000
  return Math.min(Math.max(second, periodStart), periodEnd)
}

function toCanceling({ cancelAt }: SubscriptionRow): CancelResponse {
  return {
    status: 'canceling',
    cancelAt: cancelAt === null ? null : new Date(cancelAt).toISOString(),
  }
}

function toContinuing({ status }: SubscriptionRow): ReactivateResponse['status'] {
  return status === 'trialing' || status === 'past_due' ? status : 'active'
}

function requireOverages({ prices }: Billing, plan: string): void {
  if (prices.allowsOverages(plan)) return
  throw new ApiError('PLAN_REQUIRED', `The plan ${plan} has no overages: change to a larger one`)
}
