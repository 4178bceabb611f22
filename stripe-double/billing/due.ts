import type Stripe from 'stripe'
import type { Clock } from '../clock.ts'
import { expireSession } from '../resources/checkout/checkout-sessions.ts'
import { endSubscription, expireIncomplete } from '../subscriptions/end-subscription.ts'
import { discardPending } from '../subscriptions/pending-update.ts'
import { renew } from '../subscriptions/renew.ts'
import { rowsOf, type World } from '../world.ts'
import { applyPayment, setLatestInvoice } from './collect.ts'
import { periodOf } from './period.ts'
import { finalizeInvoice, payInvoice, subscriptionOf } from './settle-invoice.ts'

interface Due {
  /** Seconds since 1970. */
  readonly at: number
  readonly run: () => void
}

const FIRST_PAYMENT_SECONDS = 23 * 3_600

/** Does everything that is due up to `until`, in order and each at its own time. */
export function runDue(world: World, clock: Clock, until: number): void {
  for (let due = nextDue(world); due !== null && due.at <= until; due = nextDue(world)) {
    clock.during(due.at, due.run)
  }
}

function nextDue(world: World): Due | null {
  const dues: Due[] = [
    ...rowsOf(world, 'subscriptions').flatMap((row) => subscriptionDues(world, row)),
    ...rowsOf(world, 'invoices').flatMap((row) => invoiceDues(world, row)),
    ...rowsOf(world, 'sessions')
      .filter(({ status }) => status === 'open')
      .map((row) => ({ at: row.expires_at, run: () => expireSession(world, row) })),
  ]
  // The sort is stable: what is first in the list happens first.
  return dues.sort((one, other) => one.at - other.at)[0] ?? null
}

/** The end is first in the list, so that a subscription that ends now is not renewed. */
function subscriptionDues(world: World, row: Stripe.Subscription): Due[] {
  const { created, cancel_at, status } = row
  if (status === 'canceled' || status === 'incomplete_expired') return []
  if (status === 'incomplete') {
    return [{ at: created + FIRST_PAYMENT_SECONDS, run: () => expireIncomplete(world, row) }]
  }
  const end = () => endSubscription(world, row, 'invoiced')
  const expiresAt = row.pending_update?.expires_at
  return [
    ...(expiresAt === undefined
      ? []
      : [{ at: expiresAt, run: () => discardPending(world, row.id) }]),
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
  if (subscription?.status === 'canceled') setLatestInvoice(world, subscription.id, paid)
  else applyPayment(world, paid)
}
