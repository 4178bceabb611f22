import type Stripe from 'stripe'

export interface Period {
  readonly start: number
  readonly end: number
}

type Recurring = Pick<Stripe.Price.Recurring, 'interval' | 'interval_count'>

const SECONDS: Readonly<Record<string, number>> = { day: 86_400, week: 604_800 }

/** The end of the period that starts at `start`. It keeps the day of `anchor` if the month has it. */
export function periodEnd(anchor: number, start: number, recurring: Recurring): number {
  let steps = 1
  while (addIntervals(anchor, steps, recurring) <= start) steps += 1
  return addIntervals(anchor, steps, recurring)
}

/** `count` months later in UTC, or the last day of a month that is too short. */
export function addMonths(time: number, count: number): number {
  const date = new Date(time * 1000)
  const day = date.getUTCDate()
  date.setUTCDate(1)
  date.setUTCMonth(date.getUTCMonth() + count)
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
  date.setUTCDate(Math.min(day, last))
  return Math.floor(date.getTime() / 1000)
}

export function periodOf(subscription: Stripe.Subscription): Period {
  const items = subscription.items.data
  return {
    start: Math.max(...items.map((item) => item.current_period_start)),
    end: Math.min(...items.map((item) => item.current_period_end)),
  }
}

function addIntervals(anchor: number, steps: number, { interval, interval_count }: Recurring) {
  const count = steps * interval_count
  const seconds = SECONDS[interval]
  if (seconds !== undefined) return anchor + count * seconds
  return addMonths(anchor, interval === 'year' ? 12 * count : count)
}
