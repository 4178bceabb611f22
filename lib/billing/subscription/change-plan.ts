import type { Plan } from '../../config/plans.ts'
import type {
  PaymentConfirmation,
  ProrationPreview,
} from '../../contract/billing/billing-schemas.ts'
import { HOUR_MS } from '../../parts/durations.ts'
import { ApiError, fieldError } from '../../parts/errors.ts'
import type { Actor, Billing } from '../billing.ts'
import { getPrice, type Offer } from '../plan-prices.ts'
import {
  changePrice,
  findUnpaid,
  type PendingChange,
  type PriceChange,
  previewPrice,
} from '../stripe/price-changes.ts'
import type { Stripe } from '../stripe/stripe-calls.ts'
import { saveChange } from './changes.ts'
import { explainCurrency } from './currency.ts'
import { changeTime, countedPeriod, explainCredit, periodAfter, restartTime } from './proration.ts'
import {
  findPreview,
  forgetPending,
  type SubscriptionRow,
  savePreview,
  toNote,
} from './subscriptions.ts'
import { withSubscription } from './with-subscription.ts'

/** The plan that a subscriber wants, paid as often as now unless `interval` says otherwise. */
export interface WantedPlan {
  readonly plan: Plan
  readonly interval: Offer['interval'] | undefined
}

/** The subscription, and the offer that it should change to. */
interface Wanted {
  readonly row: SubscriptionRow
  readonly offer: Offer
}

/**
 * Returns what the change would cost now or, if it is pending already, what its invoice charges. A change
 * of the plan alone costs exactly that within the next hour, unless requests used in the meantime lower
 * the credit of a downgrade.
 */
export function previewPlanChange(
  billing: Billing,
  { userId, now }: Pick<Actor, 'userId' | 'now'>,
  { plan, interval: wantedInterval }: WantedPlan,
): Promise<ProrationPreview> {
  return withSubscription(billing, userId, async (stripe, row) => {
    const interval = wantedInterval ?? row.interval
    const wanted = { row, offer: { plan, interval } }
    const shownAt = clampToPeriod(row, now)
    if (isCurrent(wanted)) {
      return { ...toAnswer(plan, shownAt), currency: row.currency ?? '', amountDue: 0, lines: [] }
    }
    const unpaid = await findUnpaid(stripe, row.id)
    if (isPending(billing, unpaid, wanted)) {
      const { at, cost } = unpaid.pending
      return { ...toAnswer(plan, at), ...cost }
    }
    requirePaid(row, unpaid)
    const { change, note } = await toPriceChange(billing, wanted, shownAt)
    const cost = await previewPrice(stripe, change).catch(
      // A subscription keeps its currency, in which the new plan may not be sold.
      explainCurrency(stripe, change.price, row.currency),
    )
    const preview = { userId, plan: plan.id, interval, prorationAt: shownAt }
    await billing.change([savePreview(billing.db, preview)])
    const free = note === null ? [] : [{ description: note, amount: 0 }]
    return { ...toAnswer(plan, change.at), ...cost, lines: [...cost.lines, ...free] }
  })
}

type Unpaid = Awaited<ReturnType<typeof findUnpaid>>

/** The subscription, still with its old plan if the customer must confirm the payment first. */
export interface PlanChange {
  readonly row: SubscriptionRow
  readonly confirmation?: PaymentConfirmation
}

/**
 * Changes the plan at once, and charges or credits the rest of the period. If the bank asks the customer
 * to confirm the payment, the plan changes when that is done; a call with the same plan returns the
 * same page. Throws PAYMENT_FAILED, and changes nothing, if the card is declined or an invoice is open.
 */
export function changePlan(
  billing: Billing,
  actor: Actor,
  { plan, interval }: WantedPlan,
): Promise<PlanChange> {
  return withSubscription(billing, actor.userId, async (stripe, row) => {
    const wanted = { row, offer: { plan, interval: interval ?? row.interval } }
    const unpaid = await findUnpaid(stripe, row.id)
    if (isPending(billing, unpaid, wanted)) {
      return { row, confirmation: unpaid.pending.confirmation }
    }
    if (unpaid.pending !== null) {
      await stripe.invoices.voidInvoice(unpaid.pending.invoiceId)
      await billing.change([forgetPending(billing.db, row.userId)])
    }
    if (isCurrent(wanted)) return { row }
    requirePaid(row, unpaid)
    return makeChange(billing, stripe, actor, wanted)
  })
}

function isCurrent({ row, offer: { plan, interval } }: Wanted): boolean {
  return row.plan === plan.id && row.interval === interval
}

/** Whether exactly this change is pending already. */
function isPending(
  { prices }: Billing,
  unpaid: Unpaid,
  wanted: Wanted,
): unpaid is Unpaid & { readonly pending: PendingChange } {
  if (unpaid.pending === null || isCurrent(wanted)) return false
  const { plan, interval } = wanted.offer
  return unpaid.pending.prices.includes(getPrice(prices, plan, interval))
}

async function makeChange(
  billing: Billing,
  stripe: Stripe,
  actor: Actor,
  wanted: Wanted,
): Promise<PlanChange> {
  const { row, offer } = wanted
  const shownAt = await findPreviewTime(billing, actor, wanted)
  const at = shownAt ?? clampToPeriod(row, actor.now)
  const { change } = await toPriceChange(billing, wanted, at)
  // "If the pending update expires before payment, Stripe discards this usage":
  // https://docs.stripe.com/billing/subscriptions/pending-updates, "Metered items". And the period that is
  // credited ends with the confirmation: what is used until then would be free.
  const mayWait = row.overageItemId === null && change.period === 'keep'
  const overages = billing.prices.allowsOverages(offer) ? 'keep' : 'off'
  const ifAsked = mayWait ? 'wait' : 'refuse'
  const pending = await changePrice(stripe, change, overages, ifAsked).catch(
    explainCurrency(stripe, change.price, row.currency),
  )
  const detail = changeText(wanted) + (pending === null ? '' : ', to be confirmed')
  const saved = await saveChange(billing, stripe, actor, toNote('change_plan', row, detail))
  return { row: saved, ...(pending && { confirmation: pending.confirmation }) }
}

/** Time that is not paid must not be credited. */
function requirePaid({ status }: SubscriptionRow, { invoices }: Unpaid): void {
  if (status !== 'past_due' && invoices.length === 0) return
  throw new ApiError(
    'PAYMENT_FAILED',
    'Pay the open invoice before you change the plan: set another payment method, or pay at its hostedInvoiceUrl in GET /v1/billing/invoices',
  )
}

/** The change at Stripe, and what a preview says about it besides Stripe's lines. */
async function toPriceChange(
  { plans, prices, countRequests }: Billing,
  { row, offer }: Wanted,
  now: number,
): Promise<{ readonly change: PriceChange; readonly note: string | null }> {
  const { plan: to, interval } = offer
  const price = getPrice(prices, to, interval)
  const from = plans.ofUser(row.plan)
  const subject = { subscriptionId: row.id, itemId: row.itemId, price, planId: to.id }
  const period = periodAfter(row, from, offer)
  if (interval !== row.interval && period !== 'end-trial') requireNoOverageItem(row)
  if (period !== 'keep' || endsEarly(row)) requireContinuing(row)
  const used = await countRequests(row.userId, countedPeriod(row, now))
  const plansAndUse = { plans, from, to, used, now }
  if (period !== 'keep') {
    const notBefore = period === 'restart' ? restartTime(row, plansAndUse) : now
    if (notBefore > now) throw notYet(notBefore)
    return { change: { ...subject, at: now, chargedFrom: '', period }, note: null }
  }
  const time = changeTime(row, plansAndUse)
  if ('notBefore' in time) throw notYet(time.notBefore, time.plan)
  return {
    change: { ...subject, ...time, period },
    note: explainCredit(row, plansAndUse),
  }
}

/** Stripe charges for the whole period, also if the operator has chosen an earlier end. */
function endsEarly({ cancelAt, periodEnd }: SubscriptionRow): boolean {
  return cancelAt !== null && cancelAt < periodEnd
}

/**
 * A change that begins a new period would charge for time after the end. Whether the end follows the period
 * depends on who scheduled it: https://docs.stripe.com/billing/subscriptions/billing-mode/compare
 */
function requireContinuing({ cancelAt }: SubscriptionRow): void {
  if (cancelAt === null) return
  throw new ApiError(
    'BAD_REQUEST',
    'The subscription is canceled: reactivate it before this change, which would charge for time after its end',
  )
}

/** The item that charges for requests over the cap is paid by the month. */
function requireNoOverageItem({ overageItemId }: SubscriptionRow): void {
  if (overageItemId === null) return
  throw fieldError(
    'interval',
    'requests over the cap are charged by the month; turn overages off, and change the interval when they are charged, within an hour',
  )
}

/** `first` is a plan from which the change is possible at once. */
function notYet(notBefore: number, first?: string): ApiError {
  const time = new Date(notBefore).toISOString()
  const way = first === undefined ? '' : `, or first change to ${first}`
  return new ApiError(
    'BAD_REQUEST',
    `Your requests have used up the paid time until ${time}: make this change after that${way}`,
  )
}

/** For the audit log, such as `starter to pro` or `pro to pro by the year`. */
function changeText({ row, offer: { plan, interval } }: Wanted): string {
  const change = `${row.plan} to ${plan.id}`
  return row.interval === interval ? change : `${change} by the ${interval}`
}

function toAnswer({ id: planId }: Plan, chargedFrom: number) {
  return { planId, prorationDate: new Date(chargedFrom).toISOString() }
}

/** Returns null if the last preview is too old, or is for another plan, interval or period of requests. */
async function findPreviewTime(
  { db }: Billing,
  { userId, now }: Actor,
  { row, offer: { plan, interval } }: Wanted,
): Promise<number | null> {
  const preview = await findPreview(db, userId)
  if (preview?.plan !== plan.id || preview.interval !== interval) return null
  if (interval !== row.interval) return null
  const { prorationAt } = preview
  const { start } = countedPeriod(row, now)
  return now - prorationAt <= HOUR_MS && prorationAt >= start ? prorationAt : null
}

/** In whole seconds, limited to the period: our clock may differ from Stripe's. */
function clampToPeriod({ periodStart, periodEnd }: SubscriptionRow, time: number): number {
  const second = Math.floor(time / 1000) * 1000
  return Math.min(Math.max(second, periodStart), periodEnd)
}
