import type { Plan } from '../../config/plans.ts'
import type { CancelResponse, ProrationPreview } from '../../contract/billing/billing-schemas.ts'
import { HOUR_MS } from '../../durations.ts'
import { ApiError } from '../../errors.ts'
import { type Actor, type Billing, notConfigured } from '../billing.ts'
import { getPrice, type Offer } from '../plan-prices.ts'
import type { StripeGateway } from '../stripe/gateway.ts'
import type { PriceChange } from '../stripe/subscriptions.ts'
import { explainCurrency } from './currency.ts'
import {
  findPreview,
  findSubscription,
  type SubscriptionRow,
  savePreview,
  toNote,
} from './subscriptions.ts'
import { sync } from './sync.ts'
import { requireActive, withSubscription } from './with-subscription.ts'

/** The plan that a subscriber wants, paid as often as now unless `interval` says otherwise. */
export interface WantedPlan {
  readonly plan: Plan
  readonly interval: Offer['interval'] | undefined
}

/** Returns what the change would cost now. For an hour, a change of the plan alone costs exactly that. */
export function previewPlanChange(
  billing: Billing,
  { userId, now }: Pick<Actor, 'userId' | 'now'>,
  wanted: WantedPlan,
): Promise<ProrationPreview> {
  return withSubscription(billing, userId, async (stripe, row) => {
    const offer = toOffer(row, wanted)
    const { plan, interval } = offer
    const prorationAt = clampToPeriod(row, now)
    const answer = { planId: plan.id, prorationDate: new Date(prorationAt).toISOString() }
    if (isCurrent(row, offer)) {
      return { ...answer, currency: await stripe.getCurrency(row.id), amountDue: 0, lines: [] }
    }
    const change = toPriceChange(billing, row, offer, prorationAt)
    const cost = await stripe.previewPrice(change).catch(explainChange(stripe, row, change))
    const preview = { userId, plan: plan.id, interval, prorationAt }
    await billing.change([savePreview(billing.db, preview)])
    return { ...answer, ...cost }
  })
}

/**
 * Changes the plan at once, and charges or credits the rest of the period. If the card is declined,
 * changes nothing and throws PAYMENT_FAILED.
 */
export function changePlan(
  billing: Billing,
  actor: Actor,
  wanted: WantedPlan,
): Promise<SubscriptionRow> {
  return withSubscription(billing, actor.userId, async (stripe, row) => {
    const offer = toOffer(row, wanted)
    if (isCurrent(row, offer)) return row
    const prorationAt = await findPreviewTime(billing, actor, offer)
    const change = toPriceChange(billing, row, offer, prorationAt)
    await stripe
      .changePrice(change, billing.prices.allowsOverages(offer) ? 'keep' : 'off')
      .catch(explainChange(stripe, row, change))
    const note = toNote('change_plan', row, changeText(row, offer))
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

/** Takes back a cancellation that was made here or in the customer portal. */
export function reactivateSubscription(billing: Billing, actor: Actor): Promise<void> {
  return withSubscription(billing, actor.userId, async (stripe, row) => {
    if (row.cancelAt === null) return
    await stripe.undoCancellation(row.id)
    await finish(billing, stripe, actor, toNote('reactivate_subscription', row, row.plan))
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
  requireOverages(billing, { plan, interval: 'month' })
  requireActive(await findSubscription(billing.db, actor.userId))
  const { overagePrice } = billing
  if (overagePrice === undefined) throw notConfigured()
  return withSubscription(billing, actor.userId, async (stripe, row) => {
    requireOverages(
      billing,
      billing.prices.offerOf(row.priceId ?? '') ?? { plan, interval: 'month' },
    )
    requireNoTrial(row)
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

function toOffer(row: SubscriptionRow, { plan, interval = row.interval }: WantedPlan): Offer {
  return { plan, interval }
}

function isCurrent(row: SubscriptionRow, { plan, interval }: Offer): boolean {
  return row.plan === plan.id && row.interval === interval
}

/** For the audit log, such as `starter to pro` or `pro to pro by the year`. */
function changeText(row: SubscriptionRow, { plan, interval }: Offer): string {
  const change = `${row.plan} to ${plan.id}`
  return row.interval === interval ? change : `${change} by the ${interval}`
}

/** A change of the interval begins a new period now, unless it is still a trial. */
function toPriceChange(
  { prices }: Billing,
  row: SubscriptionRow,
  { plan, interval }: Offer,
  prorationAt: number | null,
): PriceChange {
  const price = getPrice(prices, plan, interval)
  const { id: subscriptionId, itemId } = row
  const change = { subscriptionId, itemId, price }
  if (interval !== row.interval) {
    requireOneInterval(row)
    const isTrial = row.status === 'trialing'
    return { ...change, prorationAt: null, period: isTrial ? 'keep' : 'restart' }
  }
  const isInPeriod = prorationAt !== null && prorationAt >= row.periodStart
  return { ...change, prorationAt: isInPeriod ? prorationAt : null, period: 'keep' }
}

/** A subscription keeps its currency, in which the new plan may not be sold. */
function explainChange(stripe: StripeGateway, row: SubscriptionRow, { price }: PriceChange) {
  return explainCurrency(stripe, { price, customerId: null, currency: row.currency ?? undefined })
}

/** The item that charges for requests over the cap stays with the subscription, by the month. */
function requireOneInterval({ overageItemId }: SubscriptionRow): void {
  if (overageItemId === null) return
  throw new ApiError(
    'BAD_REQUEST',
    'interval: this subscription charges requests over the cap by the month; cancel it, and buy the plan again when it has ended',
  )
}

/** Returns null if the last preview is for another plan or interval, or too old. */
async function findPreviewTime(
  { db }: Billing,
  { userId, now }: Actor,
  { plan, interval }: Offer,
): Promise<number | null> {
  const preview = await findPreview(db, userId)
  if (preview?.plan !== plan.id || preview.interval !== interval) return null
  return now - preview.prorationAt <= HOUR_MS ? preview.prorationAt : null
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

/** Stripe does not charge for usage in a trial. */
function requireNoTrial({ status }: SubscriptionRow): void {
  if (status !== 'trialing') return
  throw new ApiError('PLAN_REQUIRED', 'There are no overages in a trial: wait until it has ended')
}

function requireOverages({ prices }: Billing, offer: Offer): void {
  if (prices.allowsOverages(offer)) return
  const { plan, interval } = offer
  throw new ApiError(
    'PLAN_REQUIRED',
    interval === 'year'
      ? 'A plan that is paid by the year has no overages: pay it by the month'
      : `The plan ${plan.id} has no overages: change to a larger one`,
  )
}
