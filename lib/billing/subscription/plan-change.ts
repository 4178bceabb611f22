import type { Plan } from '../../config/plans.ts'
import type {
  PaymentConfirmation,
  ProrationPreview,
} from '../../contract/billing/billing-schemas.ts'
import { HOUR_MS } from '../../durations.ts'
import { ApiError } from '../../errors.ts'
import type { Actor, Billing } from '../billing.ts'
import { getPrice } from '../plan-prices.ts'
import type { StripeGateway } from '../stripe/gateway.ts'
import type { PendingChange, PriceChange } from '../stripe/price-changes.ts'
import { changeTime, explainCredit } from './change-time.ts'
import { finish } from './changes.ts'
import { findPreview, type SubscriptionRow, savePreview, toNote } from './subscriptions.ts'
import { withSubscription } from './with-subscription.ts'

/**
 * Returns what the change would cost now. For an hour, the change costs exactly that, unless requests
 * used in the meantime lower the credit of a downgrade.
 */
export function previewPlanChange(
  billing: Billing,
  { userId, now }: Pick<Actor, 'userId' | 'now'>,
  plan: Plan,
): Promise<ProrationPreview> {
  return withSubscription(billing, userId, async (stripe, row) => {
    const shownAt = clampToPeriod(row, now)
    if (row.plan === plan.id) {
      const currency = await stripe.getCurrency(row.id)
      return { ...toAnswer(plan, shownAt), currency, amountDue: 0, lines: [] }
    }
    requirePaid(row, await stripe.findUnpaid(row.id))
    const change = toChange(billing, row, { plan, now: shownAt })
    const chargedFrom = changeTime(row, change)
    const cost = await stripe.previewPrice(toPriceChange(billing, row, { plan, chargedFrom }))
    await billing.change([savePreview(billing.db, { userId, plan: plan.id, prorationAt: shownAt })])
    const reason = explainCredit(row, change)
    const lines = [...cost.lines, ...(reason === null ? [] : [{ description: reason, amount: 0 }])]
    return { ...toAnswer(plan, chargedFrom), ...cost, lines }
  })
}

type Unpaid = Awaited<ReturnType<StripeGateway['findUnpaid']>>

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
export function changePlan(billing: Billing, actor: Actor, plan: Plan): Promise<PlanChange> {
  return withSubscription(billing, actor.userId, async (stripe, row) => {
    const unpaid = await stripe.findUnpaid(row.id)
    if (isWanted(billing, unpaid, { row, plan })) {
      return { row, confirmation: unpaid.pending.confirmation }
    }
    if (unpaid.pending !== null) await stripe.discardChange(unpaid.pending)
    if (row.plan === plan.id) return { row }
    requirePaid(row, unpaid)
    return makeChange(billing, stripe, actor, { row, plan })
  })
}

interface Wanted {
  readonly row: SubscriptionRow
  readonly plan: Plan
}

/** Whether this very change waits for a confirmation already. */
function isWanted(
  { prices }: Billing,
  unpaid: Unpaid,
  { row, plan }: Wanted,
): unpaid is Unpaid & { readonly pending: PendingChange } {
  if (unpaid.pending === null || row.plan === plan.id) return false
  return unpaid.pending.prices.includes(getPrice(prices, plan))
}

async function makeChange(
  billing: Billing,
  stripe: StripeGateway,
  actor: Actor,
  { row, plan }: Wanted,
): Promise<PlanChange> {
  const shownAt = await findPreviewTime(billing, actor, { row, plan })
  const now = shownAt ?? clampToPeriod(row, actor.now)
  const chargedFrom = changeTime(row, toChange(billing, row, { plan, now }))
  const pending = await stripe.changePrice(
    toPriceChange(billing, row, { plan, chargedFrom }),
    billing.prices.allowsOverages(plan.id) ? 'keep' : 'off',
  )
  const detail = `${row.plan} to ${plan.id}`
  if (pending === null) {
    return { row: await finish(billing, stripe, actor, toNote('change_plan', row, detail)) }
  }
  await billing.change([actor.audit(toNote('change_plan', row, `${detail}, to be confirmed`))])
  return { row, confirmation: pending.confirmation }
}

/** Time that is not paid must not be credited. */
function requirePaid({ status }: SubscriptionRow, { invoices }: Unpaid): void {
  if (status !== 'past_due' && invoices.length === 0) return
  throw new ApiError(
    'PAYMENT_FAILED',
    'Pay the open invoice before you change the plan: set another payment method, or pay at its hostedInvoiceUrl in GET /v1/billing/invoices',
  )
}

function toChange(
  { plans, countRequests }: Billing,
  { userId, plan, periodStart: start, periodEnd: end }: SubscriptionRow,
  { plan: to, now }: { readonly plan: Plan; readonly now: number },
) {
  const used = countRequests(userId, { start, end })
  return { from: plans.find(plan) ?? plans.free, to, used, now }
}

function toPriceChange(
  { prices }: Billing,
  { id: subscriptionId, itemId }: SubscriptionRow,
  { plan, chargedFrom }: { readonly plan: Plan; readonly chargedFrom: number },
): PriceChange {
  return { subscriptionId, itemId, price: getPrice(prices, plan), chargedFrom }
}

function toAnswer({ id: planId }: Plan, chargedFrom: number) {
  return { planId, prorationDate: new Date(chargedFrom).toISOString() }
}

/** Returns null if the last preview is for another plan or period, or too old. */
async function findPreviewTime(
  { db }: Billing,
  { userId, now }: Actor,
  { row, plan }: Wanted,
): Promise<number | null> {
  const preview = await findPreview(db, userId)
  if (preview === null || preview.plan !== plan.id) return null
  const { prorationAt } = preview
  return now - prorationAt <= HOUR_MS && prorationAt >= row.periodStart ? prorationAt : null
}

/** In whole seconds, limited to the period: our clock may differ from Stripe's. */
function clampToPeriod({ periodStart, periodEnd }: SubscriptionRow, time: number): number {
  const second = Math.floor(time / 1000) * 1000
  return Math.min(Math.max(second, periodStart), periodEnd)
}
