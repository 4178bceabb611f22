import { moneyText } from '../../config/money.ts'
import {
  largestSpendingCap,
  type OverageTerms,
  priceIn,
  toOverageTerms,
} from '../../config/overage-terms.ts'
import type { Plan } from '../../config/plans.ts'
import { spendingCaps } from '../../db/billing-tables.ts'
import { eq } from '../../db/drizzle.ts'
import { ApiError, fieldError } from '../../parts/errors.ts'
import { type Actor, type Billing, notConfigured } from '../billing.ts'
import type { Offer } from '../plan-prices.ts'
import { findSubscription, type SubscriptionRow, toNote } from '../subscription/subscriptions.ts'
import { requireActive } from '../subscription/with-subscription.ts'
import { getOveragePrice } from './overage-price.ts'

/**
 * Returns the user's subscription and the terms of its overages, whether they are on or off. `plan` is
 * the plan in effect. Throws PLAN_REQUIRED if it has no overages, and BILLING_NOT_CONFIGURED if they are
 * off and have no price in the currency of the subscription.
 */
export async function getOverages(billing: Billing, userId: string, plan: Plan) {
  const found = await findSubscription(billing.db, userId)
  requireOverages(billing, { plan, interval: found?.interval ?? 'month' })
  const row = requireActive(found)
  const terms = await getTerms(billing, row, plan)
  if (!row.overages) requireCurrency(row, terms)
  return { row, terms }
}

/** Sets the most that requests over the cap may cost in a period, in the smallest unit of the currency. */
export async function setSpendingCap(
  billing: Billing,
  actor: Actor,
  plan: Plan,
  amount: number,
): Promise<{ readonly row: SubscriptionRow; readonly terms: OverageTerms }> {
  const { userId } = actor
  const { row, terms } = await getOverages(billing, userId, plan)
  const { currency, spendingCap } = terms
  requireWithin(amount, largestSpendingCap(plan, currency))
  if (amount === spendingCap) return { row, terms }
  const chosen = { userId, currency, amount }
  const save = billing.db
    .insert(spendingCaps)
    .values(chosen)
    .onConflictDoUpdate({ target: spendingCaps.userId, set: chosen })
  const detail = `${moneyText(spendingCap, currency)} to ${moneyText(amount, currency)}`
  await billing.change([save, actor.audit(toNote('set_spending_cap', row, detail))])
  return { row, terms: toOverageTerms(plan, terms, chosen) }
}

/** The terms to which a subscriber agrees, such as `$0.001 per request, at most $87.00 per period`. */
export async function describeTerms(billing: Billing, row: SubscriptionRow): Promise<string> {
  const terms = await getTerms(billing, row, billing.plans.ofUser(row.plan))
  requireCurrency(row, terms)
  const { unitAmount, spendingCap, currency } = terms
  const [price, cap] = [moneyText(unitAmount, currency), moneyText(spendingCap, currency)]
  return `${price} per request, at most ${cap} per period`
}

/** Stripe would charge in the currency of the subscription, whatever we show. */
function requireCurrency({ currency: charged }: SubscriptionRow, { currency }: OverageTerms): void {
  if (charged !== currency) throw notConfigured(`Overages have no price in ${charged}`)
}

async function getTerms(
  billing: Billing,
  { userId, currency }: SubscriptionRow,
  plan: Plan,
): Promise<OverageTerms> {
  const price = priceIn(await getOveragePrice(billing), currency)
  const isOwn = eq(spendingCaps.userId, userId)
  const chosen = await billing.db.select().from(spendingCaps).where(isOwn).get()
  return toOverageTerms(plan, price, chosen ?? null)
}

export function requireOverages({ prices }: Billing, offer: Offer): void {
  if (prices.allowsOverages(offer)) return
  const { plan, interval } = offer
  throw new ApiError(
    'PLAN_REQUIRED',
    interval === 'year'
      ? 'A plan that is paid by the year has no overages: pay it by the month'
      : `The plan ${plan.id} has no overages: change to a larger one`,
  )
}

/** Stripe does not charge for usage in a trial. */
export function requireNoTrial({ status }: SubscriptionRow): void {
  if (status !== 'trialing') return
  throw new ApiError('PLAN_REQUIRED', 'There are no overages in a trial: wait until it has ended')
}

/** A user who owes a renewal gets no further credit. */
export function requirePaidRenewal({ status }: SubscriptionRow): void {
  if (status !== 'past_due') return
  throw new ApiError('PAYMENT_FAILED', 'Pay the open invoice before you turn on overages')
}

function requireWithin(amount: number, largest: number): void {
  if (amount <= largest) return
  throw fieldError('spendingCap', `must be at most ${largest}`)
}
