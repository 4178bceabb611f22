import { type BillingPeriod, paidPeriod } from '../../config/period.ts'
import type { Plan, Plans } from '../../config/plans.ts'
import { SECOND_MS } from '../../parts/durations.ts'
import type { Offer } from '../plan-prices.ts'
import type { PriceChange } from '../stripe/price-changes.ts'
import type { SubscriptionRow } from './subscriptions.ts'

type PaidTime = Pick<SubscriptionRow, 'chargedFrom' | 'periodStart' | 'periodEnd' | 'interval'>

type Priced = Pick<Plan, 'price' | 'monthlyCap'>

/** A change of the plan. */
interface Change {
  readonly plans: Pick<Plans, 'list'>
  readonly from: Plan
  readonly to: Plan
  /** The requests counted so far in the period, without those charged as overages. */
  readonly used: number
  /** When the change takes effect, in epoch milliseconds. */
  readonly now: number
}

/** A time from which Stripe charges or credits the difference, and what to remember of it. */
interface ChangeTime {
  /** In whole seconds, as epoch milliseconds. */
  readonly at: number
  /** The dearer plan, and from when until when it is paid, as text: see `readPaid`. */
  readonly chargedFrom: string
}

/*
 * How plan changes are prorated: decision 32 of docs/api-decisions.md. Stripe charges or credits the
 * difference of the two prices, times the share of the paid period that is left at `proration_date`:
 * https://docs.stripe.com/billing/subscriptions/prorations
 *
 * What is charged up to that time stays charged: the next change is prorated no earlier. docs/billing.md shows
 * on paper that then no detour is cheaper than the direct change.
 *
 * All times are epoch milliseconds; those that Stripe gets or keeps are whole seconds.
 */

/** The period at `now` in which requests are counted: the paid period, or one month of a paid year. */
export function countedPeriod(
  { periodStart: start, periodEnd: end, interval }: PaidTime,
  now: number,
): BillingPeriod {
  return paidPeriod({ start, end, interval }, Math.min(now, end - 1))
}

/**
 * A change of the interval begins a new period now, unless it is still a trial. So does a dearer plan without
 * a trial, which ends the trial.
 */
export function periodAfter(
  { status, interval }: Pick<SubscriptionRow, 'status' | 'interval'>,
  from: Plan,
  to: Offer,
): PriceChange['period'] {
  if (status !== 'trialing') return interval === to.interval ? 'keep' : 'restart'
  return to.plan.trialDays === undefined && to.plan.price > from.price ? 'end-trial' : 'keep'
}

/**
 * An upgrade charges the rest of the period, and a downgrade credits it, but not the time that is used up. If
 * an earlier downgrade credits only from a later time, then until that time only the plan before it can be
 * chosen; for others, returns the time and that plan. To choose it again is as if nothing had happened: Stripe has
 * charged it without a break.
 */
export function changeTime(
  row: PaidTime,
  change: Change,
): ChangeTime | { readonly notBefore: number; readonly plan: string } {
  const { from, to, now } = change
  const paid = readPaid(row)
  const isAhead = paid.until > now
  if (isAhead && paid.plan !== from.id && paid.plan !== to.id) {
    return { notBefore: paid.until, plan: paid.plan }
  }
  if (to.price >= from.price) {
    const isReturn = isAhead && paid.plan === to.id
    const at = isReturn ? paid.until : toNextSecond(now)
    return { at, chargedFrom: writePaid(to, isReturn ? paid.from : at) }
  }
  const at = toNextSecond(Math.max(now, usedUntil(row, change, to)))
  return { at, chargedFrom: `${writePaid(from, paid.until)} ${writePaid(from, at)}` }
}

/**
 * A change of the interval credits the remaining time and begins a new period, with its whole cap. So it is
 * possible only once the time passed covers the requests used: from the returned time on.
 */
export function restartTime(row: PaidTime, change: Omit<Change, 'to'>): number {
  return toNextSecond(Math.max(readPaid(row).until, usedUntil(row, change, NOTHING)))
}

/** For a preview: why a downgrade credits less than the remaining time; null if it does not. */
export function explainCredit(row: PaidTime, change: Change): string | null {
  const { from, to, used, now } = change
  const additional = from.monthlyCap - to.monthlyCap
  const isUsedAhead = usedUntil(row, change, to) > Math.max(readPaid(row).until, now)
  if (to.price >= from.price || additional <= 0 || !isUsedAhead) return null
  const usedOfThem = Math.min(used - to.monthlyCap, additional)
  return `Not credited: ${count(usedOfThem)} of the ${count(additional)} additional requests of ${from.name} are used`
}

const NOTHING: Priced = { price: 0, monthlyCap: 0 }

/**
 * Until when the time paid for `from` instead of `to` is used up, in proportion to the price of the used
 * requests; at the latest a second before the end of the period.
 */
function usedUntil(
  row: PaidTime,
  { plans, from, used, now }: Omit<Change, 'to'>,
  to: Priced,
): number {
  const { start: periodStart, end } = countedPeriod(row, now)
  const start = Math.max(periodStart, readPaid(row).until)
  const usedPrice = priceOf(used, [...plans.list, from]) - to.price
  if (usedPrice <= 0 || from.price <= to.price) return start
  const usedShare = usedPrice / (from.price - to.price)
  return Math.min(start + usedShare * (end - start), end - SECOND_MS)
}

/** Plans are points from nothing up, joined by straight lines. A plan without more requests than a cheaper one is left out. */
function priceOf(requests: number, plans: readonly Priced[]): number {
  let last = NOTHING
  for (const plan of plans.filter(({ price }) => price > 0).sort((a, b) => a.price - b.price)) {
    if (plan.monthlyCap <= last.monthlyCap) continue
    if (requests <= plan.monthlyCap) {
      const share = (requests - last.monthlyCap) / (plan.monthlyCap - last.monthlyCap)
      return last.price + share * (plan.price - last.price)
    }
    last = plan
  }
  return last.price
}

/** Rounds to a millisecond first, so that a fraction without meaning does not add a second. */
function toNextSecond(time: number): number {
  return Math.ceil(Math.round(time) / SECOND_MS) * SECOND_MS
}

function count(requests: number): string {
  return requests.toLocaleString('en')
}

/** The dearer plan of the last change. Both times are 0 if there was none in the period. */
interface PaidPlan {
  readonly plan: string
  readonly from: number
  /** As `from` after an upgrade; after a downgrade, when its credit begins. */
  readonly until: number
}

/**
 * Reads a plan with one or two times in seconds, such as `pro=1769688000`; ignores everything else. Earlier
 * releases kept a time for each of several plans: the latest counts, and of plans with the same time the last,
 * which is the dearest.
 */
function readPaid({ chargedFrom }: PaidTime): PaidPlan {
  const entries = [...chargedFrom.matchAll(/(\S+)=(\d{1,12})(?= |$)/g)].map(
    ([, plan = '', seconds]) => ({ plan, time: Number(seconds) * SECOND_MS }),
  )
  const nothing = { plan: '', time: 0 }
  const { plan, time: until } = entries.reduce(
    (one, other) => (other.time >= one.time ? other : one),
    nothing,
  )
  const from = entries.find((entry) => entry.plan === plan)?.time ?? until
  return { plan, from, until }
}

function writePaid({ id }: Plan, time: number): string {
  return `${id}=${time / SECOND_MS}`
}
