import type Stripe from 'stripe'
import { newInvoice } from '../billing/new-invoice.ts'
import { periodOf } from '../billing/period.ts'
import { recordDebits, usageLines } from '../billing/period-lines.ts'
import { addInvoice, finalizeInvoice, payInvoice, voidInvoice } from '../billing/settle-invoice.ts'
import { toList } from '../http/list.ts'
import { mergeMetadata } from '../http/params.ts'
import { badRequest } from '../http/stripe-error.ts'
import { changeRow, emit, getRow, type World } from '../world.ts'
import type { ChangeParam } from './change-params.ts'
import type { SubscriptionChange } from './compute-change.ts'

const PENDING_SECONDS = 23 * 3_600

const SUPPORTED: readonly string[] = [
  'billing_cycle_anchor',
  'cancel_at_period_end',
  'items',
  'metadata',
  'payment_behavior',
  'proration_behavior',
  'proration_date',
  'trial_end',
] satisfies (keyof ChangeParam)[]

/** Throws Stripe's 400 for parameters that a pending update cannot have. */
export function requireSupported(params: ChangeParam): void {
  const wrong = Object.keys(params).filter((name) => !SUPPORTED.includes(name))
  if (params.payment_behavior !== 'pending_if_incomplete' || wrong.length === 0) return
  throw badRequest(
    `When \`payment_behavior\` is \`pending_if_incomplete\`, you can only pass parameters that pending updates support, not ${wrong.join(', ')}.`,
    { param: wrong[0] ?? '' },
  )
}

/** What a change that ends the trial does to the subscription. */
export function afterTrial({ trialEnd }: Pick<SubscriptionChange, 'trialEnd'>) {
  return trialEnd === undefined ? {} : ({ status: 'active', trial_end: trialEnd } as const)
}

/**
 * Invoices the change and tries to charge it, but leaves the subscription as it is. Like Stripe, also
 * invoices the usage so far, which is lost if the change is never paid.
 */
export function suspendChange(
  world: World,
  row: Stripe.Subscription,
  { change, params }: { change: SubscriptionChange; params: ChangeParam },
): void {
  const { anchor, period, prorations, items, trialEnd } = change
  const lines = [...change.lines, ...invoiceUsage(world, row)]
  const plan = { subscription: row, lines, period, reason: 'subscription_update' } as const
  const invoice = finalizeInvoice(world, addInvoice(world, newInvoice(world, plan)))
  const metadata = params.metadata || {}
  world.state.pendingChanges.set(row.id, {
    invoice: invoice.id,
    anchor,
    items,
    metadata,
    prorations,
    trialEnd,
  })
  payInvoice(world, invoice)
  const pending_update: Stripe.Subscription.PendingUpdate = {
    billing_cycle_anchor: anchor ?? null,
    cancel_at_period_end: params.cancel_at_period_end ?? null,
    discount: null,
    discounts: null,
    expires_at: Math.min(world.now() + PENDING_SECONDS, periodOf(row).end),
    metadata,
    subscription_items: items,
    trial_end: trialEnd ?? null,
    trial_from_plan: null,
  }
  const current = getRow(world, 'subscriptions', row.id)
  const changes = { latest_invoice: invoice.id, pending_update }
  changeRow(world, current, changes, 'customer.subscription.updated')
}

function invoiceUsage(world: World, row: Stripe.Subscription): Stripe.InvoiceLineItem[] {
  const now = world.now()
  const used = usageLines(world, row, { start: periodOf(row).start, end: now })
  for (const { id } of row.items.data) world.state.usageInvoiced.set(id, now)
  return used.filter(({ quantity }) => quantity !== 0)
}

/** Applies the change whose invoice is paid. Returns false if the invoice is not for a change. */
export function applyPending(world: World, invoice: Stripe.Invoice, id: string): boolean {
  const pending = world.state.pendingChanges.get(id)
  if (pending?.invoice !== invoice.id) return false
  world.state.pendingChanges.delete(id)
  const row = getRow(world, 'subscriptions', id)
  const after = row.items.data.map(
    (item) => pending.items.find((changed) => changed.id === item.id) ?? item,
  )
  recordDebits(world, pending.prorations, row.discounts.map(String))
  world.state.pendingLines.delete(id)
  const changes = {
    ...afterTrial(pending),
    billing_cycle_anchor: pending.anchor,
    items: toList(row.items.url, after),
    metadata: mergeMetadata(row.metadata, pending.metadata),
    pending_update: null,
  }
  const applied = changeRow(world, row, changes, 'customer.subscription.updated')
  emit(world, 'customer.subscription.pending_update_applied', applied)
  return true
}

/** Discards the change that waits for a payment, and makes its invoice void. */
export function discardPending(world: World, id: string): void {
  const pending = world.state.pendingChanges.get(id)
  if (pending === undefined) return
  world.state.pendingChanges.delete(id)
  const invoice = getRow(world, 'invoices', pending.invoice)
  if (invoice.status === 'open') voidInvoice(world, invoice)
  const row = getRow(world, 'subscriptions', id)
  const discarded = changeRow(world, row, { pending_update: null })
  emit(world, 'customer.subscription.pending_update_expired', discarded)
}
