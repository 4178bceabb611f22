import { type Finding, ok, warning, wrong } from './finding.ts'

/** What the database says of events and reports. Times are epoch milliseconds. */
export interface BillingState {
  readonly subscriptions: number
  /** null: none is known. */
  readonly lastEventAt: number | null
  /** Reports of overages that have not arrived. */
  readonly waiting: number
  readonly refused: number
  /** Of the oldest that waits; null: none does. */
  readonly waitingSince: number | null
}

const HOUR_MS = 60 * 60 * 1000

/** Whether events come, and reports of overages arrive. */
export function checkBillingState(state: BillingState, now: number): Finding[] {
  return [eventsOf(state, now), ...reportsOf(state, now)]
}

function eventsOf({ subscriptions, lastEventAt }: BillingState, now: number): Finding {
  if (lastEventAt !== null) return ok(`The last event came ${hours(now - lastEventAt)} ago`)
  if (subscriptions === 0) return ok('No event has come, and nobody has subscribed')
  return warning(
    `No event has come in 35 days, but there are ${subscriptions} subscriptions`,
    'see in the dashboard of Stripe whether events reach /v1/billing/webhook of this service',
  )
}

function reportsOf({ waiting, refused, waitingSince }: BillingState, now: number): Finding[] {
  if (refused > 0) {
    return [wrong(`Stripe refuses ${refused} reports of overages`, 'see docs/overages.md')]
  }
  if (waitingSince === null) return []
  const text = `${waiting} reports of overages wait, the oldest for ${hours(now - waitingSince)}`
  if (now - waitingSince < HOUR_MS) return [ok(text)]
  return [warning(text, 'see that the server runs, and what its log says of the payment processor')]
}

function hours(ms: number): string {
  return `${Math.floor(ms / HOUR_MS)} hours`
}
