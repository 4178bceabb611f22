import {
  type CarriedRequests,
  carriedInto,
  toCarriedRequests,
} from '../../config/carried-requests.ts'
import { type BillingPeriod, monthFrom, paidPeriod } from '../../config/period.ts'
import type { Plan, Plans } from '../../config/plans.ts'
import { SECOND_MS } from '../../parts/durations.ts'
import type { SubscriptionRow } from './subscriptions.ts'

/** Stripe keeps 500 characters: those of nine plans with the longest ids. */
const MAX_STEPS = 9

type PaidTime = Pick<
  SubscriptionRow,
  'chargedFrom' | 'periodStart' | 'periodEnd' | 'interval' | 'carriedRequests' | 'carriedUntil'
>

/** A change of the plan, or of its billing interval. */
interface Change {
  readonly plans: Pick<Plans, 'list'>
  readonly from: Plan
  readonly to: Plan
  /** The requests counted so far in the period, without those charged as overages. */
  readonly used: number
  /** When the change takes effect, in epoch milliseconds. */
  readonly now: number
}

/** From when a change is charged or credited. */
interface ChangeTime {
  /** The time for Stripe, in epoch milliseconds. */
  readonly at: number
  /** From when each step between plans is charged after the change, as text. */
  readonly chargedFrom: string
}

/*
 * How plan changes are prorated: decision 32 of docs/api-decisions.md. Stripe charges or credits the
 * difference of the two prices, times the share of the paid period that is left at `proration_date`:
 * https://docs.stripe.com/billing/subscriptions/prorations
 *
 * Plans are sold as steps: a plan costs the sum of all steps up to it. A change charges or credits the
 * steps between its two plans, each from its own time. So a detour through a third plan credits no more
 * than the direct change. Stripe takes only one time: the mean of the steps' times, weighted by their
 * prices, gives the same sum.
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
 * An upgrade charges each step from now on, and a downgrade credits it. Neither begins before the time from
 * which the step is charged already, so no step is charged or credited twice. A downgrade does not credit time
 * that is used up: see `usedUntil`.
 */
export function changeTime(row: PaidTime, change: Change): ChangeTime {
  const { from, to, now } = change
  const isDowngrade = to.price < from.price
  const steps = stepsBetween(change)
  const times = readChargedFrom(row.chargedFrom)
  for (const step of steps) {
    const earliest = Math.max(stepStart(row, change, step), now)
    const time = isDowngrade ? Math.max(earliest, usedUntil(row, change, step)) : earliest
    times.set(step.id, toNextSecond(time))
  }
  return { at: meanTime(steps, times, now), chargedFrom: writeChargedFrom(times, row.periodStart) }
}

/** The mean of the steps' times, weighted by their prices; `now` if the steps cost nothing. */
function meanTime(steps: readonly PlanStep[], times: ChargedFrom, now: number): number {
  const price = sum(steps, (step) => step.price)
  if (price <= 0) return now
  const weightedDelays = sum(steps, (step) => step.price * ((times.get(step.id) ?? now) - now))
  return toNextSecond(now + weightedDelays / price)
}

/**
 * A change of the interval credits the remaining time and begins a new period. Requests that were used
 * ahead of time, faster than the time passed, are carried into the first month of the new period. Returns
 * them; null if there are none. If future time is charged already, or they exceed the cap of the new plan,
 * returns the earliest time at which the interval can be changed, in epoch milliseconds.
 */
export function carryOver(
  row: PaidTime,
  change: Change,
): CarriedRequests | null | { readonly notBefore: number } {
  const { plans, from, to, now } = change
  const { end } = countedPeriod(row, now)
  const chargedFrom = Math.max(now, ...readChargedFrom(row.chargedFrom).values())
  if (chargedFrom > now) return { notBefore: chargedFrom }
  const aheadOfTime = sum(stepsUp(plans.list, null, from), (step) => {
    const start = stepStart(row, change, step)
    const ofPassedTime = (step.requests * (now - start)) / (end - start)
    return usedOf(row, change, step) - ofPassedTime
  })
  if (aheadOfTime > to.monthlyCap) return { notBefore: end }
  const requests = Math.max(0, Math.floor(aheadOfTime))
  return requests === 0 ? null : { requests, until: monthFrom(now, now).end }
}

/** For a preview: why a downgrade credits less than the remaining time; null if it does not. */
export function explainCredit(row: PaidTime, change: Change): string | null {
  const { from, to, now } = change
  const isUsedAhead = (step: PlanStep) =>
    usedUntil(row, change, step) > Math.max(stepStart(row, change, step), now)
  if (to.price >= from.price || !stepsBetween(change).some(isUsedAhead)) return null
  const additional = from.monthlyCap - to.monthlyCap
  const used = sum(stepsBetween(change), (step) => usedOf(row, change, step))
  return `Not credited: ${count(used)} of the ${count(additional)} additional requests of ${from.name} are used`
}

/** For a preview: the requests carried into the first month of a new interval; null if none are. */
export function explainCarried(carried: CarriedRequests | null): string | null {
  if (carried === null) return null
  return `Used already, and counted in the first month: ${count(carried.requests)} requests`
}

function stepsBetween({ plans: { list }, from, to }: Change): PlanStep[] {
  if (from.price === to.price) return []
  return from.price < to.price ? stepsUp(list, from, to) : stepsUp(list, to, from)
}

/** From when the step is charged, within the period in which requests are counted. */
function stepStart(row: PaidTime, { now }: Change, { id }: PlanStep): number {
  const { start } = countedPeriod(row, now)
  return Math.max(start, readChargedFrom(row.chargedFrom).get(id) ?? start)
}

/** How many requests of the step are used: those above the cap of the cheaper plan. */
function usedOf(row: PaidTime, { used, now }: Change, { above, requests }: PlanStep): number {
  const carried = toCarriedRequests(row.carriedRequests, row.carriedUntil)
  const all = used + carriedInto(countedPeriod(row, now), carried)
  return Math.min(Math.max(0, all - above), Math.max(0, requests))
}

/**
 * Until when the step's time is used up, in proportion to its used requests; at the latest a second before the
 * end of the period.
 */
function usedUntil(row: PaidTime, change: Change, step: PlanStep): number {
  if (step.requests <= 0) return 0
  const { end } = countedPeriod(row, change.now)
  const start = stepStart(row, change, step)
  const usedShare = usedOf(row, change, step) / step.requests
  return Math.min(start + usedShare * (end - start), end - SECOND_MS)
}

function toNextSecond(time: number): number {
  return Math.ceil(time / SECOND_MS) * SECOND_MS
}

function sum<Item>(items: readonly Item[], amount: (item: Item) => number): number {
  return items.reduce((total, item) => total + amount(item), 0)
}

function count(requests: number): string {
  return requests.toLocaleString('en')
}

/**
 * From when each step between plans is charged in this period: epoch milliseconds by the id of the
 * step's dearer plan. A step that is missing has been charged since the period began.
 */
type ChargedFrom = Map<string, number>

/** Reads times in seconds, such as `starter=1768478400 pro=1769688000`; ignores everything else. */
function readChargedFrom(text: string): ChargedFrom {
  const entries = text.matchAll(/(\S+)=(\d{1,12})(?= |$)/g)
  return new Map([...entries].map(([, id = '', seconds]) => [id, Number(seconds) * 1000]))
}

/** Leaves out times up to `start`, the beginning of the period. */
function writeChargedFrom(chargedFrom: ChargedFrom, start: number): string {
  return [...chargedFrom]
    .filter(([, time]) => time > start)
    .sort(([, one], [, other]) => other - one)
    .slice(0, MAX_STEPS)
    .map(([id, time]) => `${id}=${time / 1000}`)
    .join(' ')
}

/** The difference between a plan and the next cheaper one. */
interface PlanStep {
  /** The id of the dearer plan. */
  readonly id: string
  readonly price: number
  readonly requests: number
  /** The requests that the cheaper plan includes: the step's own come after these. */
  readonly above: number
}

type Rank = Pick<Plan, 'price' | 'monthlyCap'>

/** The steps from a plan up to a dearer one, the cheapest first; null: from no plan at all. */
function stepsUp(plans: Iterable<Plan>, from: Plan | null, to: Plan): PlanStep[] {
  const low = from ?? { price: 0, monthlyCap: 0 }
  const between = [...plans]
    .filter((plan) => isBelow(low, plan) && isBelow(plan, to))
    .sort((a, b) => a.price - b.price || a.monthlyCap - b.monthlyCap)
  let last: Rank = low
  return [...between, to].map((plan) => {
    const { price, monthlyCap } = last
    last = plan
    return {
      id: plan.id,
      price: plan.price - price,
      requests: plan.monthlyCap - monthlyCap,
      above: monthlyCap,
    }
  })
}

function isBelow(one: Rank, other: Rank): boolean {
  return one.price < other.price && one.monthlyCap < other.monthlyCap
}
