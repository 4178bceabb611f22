import { overagePeriods } from '../../db/billing-tables.ts'
import { and, gt, lt } from '../../db/drizzle.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../parts/durations.ts'
import type { Billing } from '../billing.ts'
import type { Stripe } from '../stripe/stripe-calls.ts'
import { StripeRefusal } from '../stripe/stripe-refusal.ts'
import { countArrived, type MeteredTime } from './overage-store.ts'

/** Stripe has added up the last units of a period, and finalized its invoice. */
const SETTLED_MS = 2 * HOUR_MS
const SHOWN_MS = 4 * DAY_MS

/**
 * What the meter has of a customer's units in a time, and what Stripe has confirmed: `metered` is smaller while
 * Stripe adds up, or if it could not count an event, as of a customer that it does not know.
 */
export async function readMeter(
  { db, overagePrice }: Billing,
  stripe: Stripe,
  customerId: string,
  { start, end }: MeteredTime,
): Promise<{ readonly metered: number; readonly sent: number }> {
  // A refusal only delays one report: the others do not need the price.
  if (overagePrice === undefined) throw new StripeRefusal('price_not_set')
  const minutes = { start: minuteOf(start), end: minuteOf(end) + MINUTE_MS }
  const metered = await countUnits(stripe, overagePrice, customerId, minutes)
  return { metered, sent: await countArrived(db, customerId, minutes) }
}

/** Counts the customer's units at the meter of this price; `start` and `end` are whole minutes. */
export async function countUnits(
  stripe: Stripe,
  price: string,
  customer: string,
  { start, end }: MeteredTime,
): Promise<number> {
  const { recurring } = await stripe.prices.retrieve(price)
  const query = { customer, start_time: start / 1000, end_time: end / 1000 }
  const { data } = await stripe.billing.meters.listEventSummaries(recurring?.meter ?? '', query)
  return data.reduce((sum, { aggregated_value }) => sum + aggregated_value, 0)
}

export interface MeterDifference {
  readonly user: string
  readonly customer: string
  readonly detail: string
}

/** Compares the units of the periods that ended lately with those that the meter has. */
export async function compareMeter(
  billing: Billing,
  now: number,
  onFailure: (error: unknown, userId: string) => void,
): Promise<MeterDifference[]> {
  if (billing.overagePrice === undefined) return []
  const { periodEnd } = overagePeriods
  const isSettled = and(gt(periodEnd, now - SHOWN_MS), lt(periodEnd, now - SETTLED_MS))
  const periods = await billing.db.select().from(overagePeriods).where(isSettled).all()
  const found: MeterDifference[] = []
  for (const { userId: user, customerId: customer, periodStart, periodEnd: end } of periods) {
    if ((await countArrived(billing.db, customer, { start: periodStart, end })) === 0) continue
    try {
      const period = { start: periodStart, end: end - SECOND_MS }
      const { metered, sent } = await readMeter(billing, billing.openStripe(), customer, period)
      const until = new Date(end).toISOString()
      const detail = `${sent} requests over the cap were sent until ${until}, the meter has ${metered}`
      if (metered !== sent) found.push({ user, customer, detail })
    } catch (error) {
      onFailure(error, user)
    }
  }
  return found
}

function minuteOf(time: number): number {
  return Math.floor(time / MINUTE_MS) * MINUTE_MS
}
