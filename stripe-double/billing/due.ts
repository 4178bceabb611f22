import type Stripe from 'stripe'
import type { Clock } from '../clock.ts'
import { expireSession } from '../resources/checkout-sessions.ts'
import type { World } from '../world.ts'
import { followInvoice, rememberInvoice } from './collect.ts'
import { endSubscription, expireIncomplete } from './end-subscription.ts'
import { subscriptionOf } from './owner.ts'
import { periodOf } from './period.ts'
import { renew } from './renew.ts'
import { finalizeInvoice, payInvoice } from './settle-invoice.ts'

interface Due {
  /** Seconds since 1970. */
  readonly at: number
  readonly run: () => void
}

const FIRST_PAYMENT_SECONDS = 23 * 3_600

/** Does what time brings, up to `until`, each at its own moment and in order. */
export function runDue(world: World, clock: Clock, until: number): void {
  for (let due = nextDue(world); due !== null && due.at <= until; due = nextDue(world)) {
    clock.during(due.at, due.run)
  }
}

function nextDue(world: World): Due | null {
  const { invoices, sessions, subscriptions } = world.state.tables
  const dues = [
    ...[...subscriptions.values()].flatMap((row) => subscriptionDues(world, row)),
    ...[...invoices.values()].flatMap((row) => invoiceDues(world, row)),
    ...[...sessions.values()]
      .filter(({ status }) => status === 'open')
      .map((row) => ({ at: row.expires_at, run: () => expireSession(world, row) })),
  ]
  return dues.reduce<Due | null>(
    (first, due) => (first === null || due.at < first.at ? due : first),
    null,
  )
}

/** An end stands before a renewal at the same moment: then there is none. */
function subscriptionDues(world: World, row: Stripe.Subscription): Due[] {
  const { created, cancel_at, status } = row
  if (status === 'canceled' || status === 'incomplete_expired') return []
  if (status === 'incomplete') {
    return [{ at: created + FIRST_PAYMENT_SECONDS, run: () => expireIncomplete(world, row) }]
  }
  const end = () => endSubscription(world, row, 'cancellation_requested')
  return [
    ...(cancel_at === null ? [] : [{ at: cancel_at, run: end }]),
    { at: periodOf(row).end, run: () => renew(world, row) },
  ]
}

function invoiceDues(world: World, row: Stripe.Invoice): Due[] {
  const { automatically_finalizes_at: finalizesAt, next_payment_attempt: retryAt, status } = row
  if (status === 'draft' && finalizesAt !== null) {
    return [{ at: finalizesAt, run: () => settle(world, finalizeInvoice(world, row)) }]
  }
  if (status === 'open' && retryAt !== null) {
    return [{ at: retryAt, run: () => settle(world, row) }]
  }
  return []
}

function settle(world: World, invoice: Stripe.Invoice): void {
  const paid = payInvoice(world, invoice)
  const subscription = subscriptionOf(world, paid)
  if (subscription?.status === 'canceled') rememberInvoice(world, subscription.id, paid)
  else followInvoice(world, paid)
}
