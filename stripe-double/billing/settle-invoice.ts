import type Stripe from 'stripe'
import { addRow, changeRow, emit, getRow, type World } from '../world.ts'
import { type ChargeOutcome, chargeCard, defaultMethod, type Payment } from './charge-card.ts'
import { endUsedDiscounts } from './discounts.ts'
import { type InvoicePlan, newInvoice, totalsOf } from './new-invoice.ts'
import { usageLines } from './period-lines.ts'

/** How long a renewal's invoice stays a draft. Late usage is added to it in that time. */
const DRAFT_SECONDS = 3_600

/** Creates, finalizes and charges the invoice at once. */
export function chargeNow(
  world: World,
  plan: InvoicePlan,
  payment: Partial<Payment> = {},
): Stripe.Invoice {
  const invoice = finalizeInvoice(world, addInvoice(world, newInvoice(world, plan)))
  return payInvoice(world, invoice, payment)
}

/** Creates a draft that is finalized and charged after an hour; if unpaid, it stays a draft. */
export function chargeLater(world: World, plan: InvoicePlan): Stripe.Invoice {
  const draft = newInvoice(world, plan)
  const isCollected = plan.subscription.status !== 'unpaid'
  const automatically_finalizes_at = isCollected ? world.now() + DRAFT_SECONDS : null
  return addInvoice(world, { ...draft, automatically_finalizes_at })
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
    starting_balance: customer.balance,
    ending_balance: balance,
    automatically_finalizes_at: null,
    hosted_invoice_url: page,
    // There is no PDF.
    invoice_pdf: page,
    status_transitions: { ...row.status_transitions, finalized_at: world.now() },
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
  payment: Partial<Payment> = {},
): Stripe.Invoice {
  return recordCharge(world, row, chargeInvoice(world, row, payment))
}

/** Charges the amount due, by default to the card of the subscription. */
export function chargeInvoice(
  world: World,
  row: Stripe.Invoice,
  { method = methodFor(world, row), authentication = 'none' }: Partial<Payment>,
): ChargeOutcome {
  return row.amount_due === 0 ? 'paid' : chargeCard(world, { method, authentication })
}

/** Stores the outcome of a charge in the invoice. */
export function recordCharge(
  world: World,
  row: Stripe.Invoice,
  outcome: ChargeOutcome,
): Stripe.Invoice {
  const attempts = row.attempt_count + (row.amount_due > 0 ? 1 : 0)
  const attempted = { attempt_count: attempts, attempted: true }
  if (outcome === 'paid') {
    const changes = {
      ...attempted,
      status: 'paid',
      amount_paid: row.amount_due,
      amount_remaining: 0,
      next_payment_attempt: null,
      status_transitions: { ...row.status_transitions, paid_at: world.now() },
    }
    const paid = changeRow(world, row, changes, 'invoice.updated')
    emit(world, 'invoice.paid', paid)
    emit(world, 'invoice.payment_succeeded', paid)
    return paid
  }
  const changes = { ...attempted, next_payment_attempt: nextAttempt(world, row, attempts) }
  const failed = changeRow(world, row, changes, 'invoice.updated')
  if (outcome === 'requires-action') emit(world, 'invoice.payment_action_required', failed)
  emit(world, 'invoice.payment_failed', failed)
  return failed
}

/** Makes an open invoice void. The customer gets back the credit that it used. */
export function voidInvoice(world: World, row: Stripe.Invoice): Stripe.Invoice {
  const customer = getRow(world, 'customers', String(row.customer))
  const used = (row.ending_balance ?? 0) - row.starting_balance
  const balance = customer.balance - used
  changeRow(world, customer, { balance }, used === 0 ? undefined : 'customer.updated')
  const changes = { status: 'void', next_payment_attempt: null } as const
  return changeRow(world, row, changes, 'invoice.voided')
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
  if (subscription === null || draft.billing_reason !== 'subscription_cycle') return draft
  const period = { start: draft.period_start, end: draft.period_end }
  const fresh = usageLines(world, subscription, period)
  const lines = draft.lines.data.map((line) => {
    const itemOf = (one: Stripe.InvoiceLineItem) =>
      one.parent?.subscription_item_details?.subscription_item
    const isUsage = line.period.end === period.end && line.period.start === period.start
    return (isUsage && fresh.find((one) => itemOf(one) === itemOf(line))) || line
  })
  return withLines(world, draft, lines)
}

/** The draft with other lines, and their totals. */
export function withLines(
  world: World,
  draft: Stripe.Invoice,
  lines: readonly Stripe.InvoiceLineItem[],
): Stripe.Invoice {
  const subscription = subscriptionOf(world, draft)
  if (subscription === null) return draft
  const { balance } = getRow(world, 'customers', String(draft.customer))
  return { ...draft, ...totalsOf(world, { lines, subscription }, { id: draft.id, balance }) }
}

function methodFor(world: World, invoice: Stripe.Invoice): string | null {
  const subscription = subscriptionOf(world, invoice)
  return subscription === null ? null : defaultMethod(world, subscription)
}

function nextAttempt(world: World, invoice: Stripe.Invoice, attempts: number): number | null {
  if (invoice.billing_reason === 'subscription_create' || isForPendingChange(world, invoice)) {
    return null
  }
  const days = world.state.dunning.get('policy')?.retryDays[attempts - 1]
  return days === undefined ? null : world.now() + days * 86_400
}

/** Stripe does not retry these: they are void after a day. */
function isForPendingChange(world: World, { id }: Stripe.Invoice): boolean {
  return [...world.state.pendingChanges.values()].some(({ invoice }) => invoice === id)
}

/** The subscription of the invoice, or null. */
export function subscriptionOf(world: World, invoice: Stripe.Invoice): Stripe.Subscription | null {
  const id = invoice.parent?.subscription_details?.subscription
  return world.state.tables.subscriptions.get(String(id)) ?? null
}
