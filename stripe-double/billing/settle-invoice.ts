import type Stripe from 'stripe'
import type { CardBehaviour } from '../state.ts'
import { addRow, changeRow, emit, getRow, type World } from '../world.ts'
import { endUsedDiscounts } from './discounts.ts'
import { type InvoicePlan, newInvoice, totalsOf } from './new-invoice.ts'
import { usageLines } from './period-lines.ts'

/** How long a renewal's invoice stays a draft. Late usage is added to it in that time. */
const DRAFT_SECONDS = 3_600

/** Days from each failed payment to the next attempt. After the last one the subscription ends. */
const RETRY_DAYS = [3, 5, 7]

/** Creates, finalizes and charges the invoice at once. */
export function chargeNow(world: World, plan: InvoicePlan): Stripe.Invoice {
  return payInvoice(world, finalizeInvoice(world, addInvoice(world, newInvoice(world, plan))))
}

/** Creates a draft that is finalized and charged after an hour. */
export function chargeLater(world: World, plan: InvoicePlan): Stripe.Invoice {
  const draft = newInvoice(world, plan)
  return addInvoice(world, { ...draft, automatically_finalizes_at: world.now() + DRAFT_SECONDS })
}

/** Adds the number and the links, and applies the customer's credit. */
export function finalizeInvoice(world: World, draft: Stripe.Invoice): Stripe.Invoice {
  const row = withUsage(world, draft)
  const customer = getRow(world, 'customers', String(row.customer))
  const sequence = customer.next_invoice_sequence ?? 1
  const balance = Math.min(0, customer.balance + row.total)
  const next = { balance, next_invoice_sequence: sequence + 1 }
  const type = balance === customer.balance ? undefined : 'customer.updated'
  changeRow(world, customer, next, type)
  const page = `${world.baseUrl}/i/${row.id}`
  const changes = {
    lines: row.lines,
    status: 'open',
    automatically_finalizes_at: null,
    hosted_invoice_url: page,
    invoice_pdf: `${page}/pdf`,
    number: `${customer.invoice_prefix}-${String(sequence).padStart(4, '0')}`,
  }
  const open = changeRow(world, row, changes, 'invoice.finalized')
  const subscription = subscriptionOf(world, open)
  const used = new Set((open.total_discount_amounts ?? []).map(({ discount }) => String(discount)))
  if (subscription !== null) endUsedDiscounts(world, subscription, used)
  return open
}

/** Charges the amount due. Afterwards the status is `paid`, or still `open`. */
export function payInvoice(
  world: World,
  row: Stripe.Invoice,
  method: string | null = methodFor(world, row),
): Stripe.Invoice {
  const attempts = row.attempt_count + (row.amount_due > 0 ? 1 : 0)
  const attempted = { attempt_count: attempts, attempted: true }
  if (row.amount_due === 0 || cardOf(world, method) === 'pays') {
    const changes = {
      ...attempted,
      status: 'paid',
      amount_paid: row.amount_due,
      amount_remaining: 0,
      next_payment_attempt: null,
    }
    const paid = changeRow(world, row, changes, 'invoice.updated')
    emit(world, 'invoice.paid', paid)
    emit(world, 'invoice.payment_succeeded', paid)
    return paid
  }
  const changes = { ...attempted, next_payment_attempt: nextAttempt(world, row, attempts) }
  const failed = changeRow(world, row, changes, 'invoice.updated')
  emit(world, 'invoice.payment_failed', failed)
  return failed
}

/** Whether a charge of the subscription would succeed. */
export function canPay(world: World, subscription: Stripe.Subscription): boolean {
  return cardOf(world, defaultMethod(world, subscription)) === 'pays'
}

/** The payment method of the subscription, or else that of its customer. */
export function defaultMethod(
  world: World,
  { default_payment_method, customer }: Stripe.Subscription,
): string | null {
  if (default_payment_method !== null) return String(default_payment_method)
  const settings = getRow(world, 'customers', String(customer)).invoice_settings
  return settings.default_payment_method === null ? null : String(settings.default_payment_method)
}

export function addInvoice(world: World, invoice: Stripe.Invoice): Stripe.Invoice {
  if (invoice.automatic_tax.disabled_reason !== null) stopTax(world, invoice)
  const customer = getRow(world, 'customers', String(invoice.customer))
  if (!customer.currency) changeRow(world, customer, { currency: invoice.currency })
  return addRow(world, 'invoices', invoice, 'invoice.created')
}

/** Like Stripe, calculates no more tax for a customer at an unknown place. */
function stopTax(world: World, invoice: Stripe.Invoice): void {
  const automatic_tax = {
    disabled_reason: 'requires_location_inputs',
    enabled: false,
    liability: null,
  } as const
  const row = subscriptionOf(world, invoice)
  if (row !== null) changeRow(world, row, { automatic_tax }, 'customer.subscription.updated')
}

/** Recomputes the usage lines of a draft, because late meter events belong to its period. */
function withUsage(world: World, draft: Stripe.Invoice): Stripe.Invoice {
  const subscription = subscriptionOf(world, draft)
  if (subscription === null || draft.automatically_finalizes_at === null) return draft
  const period = { start: draft.period_start, end: draft.period_end }
  const fresh = usageLines(world, subscription, period)
  const lines = draft.lines.data.map((line) => {
    const itemOf = (one: Stripe.InvoiceLineItem) =>
      one.parent?.subscription_item_details?.subscription_item
    const isUsage = line.period.end === period.end && line.period.start === period.start
    return (isUsage && fresh.find((one) => itemOf(one) === itemOf(line))) || line
  })
  const { balance } = getRow(world, 'customers', String(draft.customer))
  return { ...draft, ...totalsOf(world, { lines, subscription }, { id: draft.id, balance }) }
}

function methodFor(world: World, invoice: Stripe.Invoice): string | null {
  const subscription = subscriptionOf(world, invoice)
  return subscription === null ? null : defaultMethod(world, subscription)
}

function cardOf(world: World, method: string | null): CardBehaviour | null {
  return method === null ? null : (world.state.cards.get(method) ?? null)
}

function nextAttempt(world: World, invoice: Stripe.Invoice, attempts: number): number | null {
  if (invoice.billing_reason === 'subscription_create') return null
  const days = RETRY_DAYS[attempts - 1]
  return days === undefined ? null : world.now() + days * 86_400
}

/** The subscription of the invoice, or null. */
export function subscriptionOf(world: World, invoice: Stripe.Invoice): Stripe.Subscription | null {
  const id = invoice.parent?.subscription_details?.subscription
  return world.state.tables.subscriptions.get(String(id)) ?? null
}
