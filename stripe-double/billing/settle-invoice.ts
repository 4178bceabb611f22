import type Stripe from 'stripe'
import { getCustomer } from '../resources/customers.ts'
import type { CardBehaviour } from '../state.ts'
import { addRow, changeRow, emit, type World } from '../world.ts'
import { endOnce } from './discounts.ts'
import { type InvoicePlan, newInvoice, totalsOf } from './new-invoice.ts'
import { subscriptionOf } from './owner.ts'
import { usageLines } from './period-lines.ts'

/** Invoices of a renewal stay drafts so long: usage that arrives meanwhile still counts. */
const DRAFT_SECONDS = 3_600

/** Days after a failed payment when it is tried again; after the last the subscription ends. */
const RETRY_DAYS = [3, 5, 7]

/** Makes the invoice at once: finalized, and charged where something is due. */
export function chargeNow(world: World, plan: InvoicePlan): Stripe.Invoice {
  return payInvoice(world, finalizeInvoice(world, addInvoice(world, newInvoice(world, plan))))
}

/** Makes the invoice as a draft that is finalized and charged after an hour. */
export function chargeLater(world: World, plan: InvoicePlan): Stripe.Invoice {
  const draft = newInvoice(world, plan)
  return addInvoice(world, { ...draft, automatically_finalizes_at: world.now() + DRAFT_SECONDS })
}

/** Gives the number and the links, and takes the customer's credit. */
export function finalizeInvoice(world: World, draft: Stripe.Invoice): Stripe.Invoice {
  const row = withUsage(world, draft)
  const customer = getCustomer(world, String(row.customer))
  const sequence = customer.next_invoice_sequence ?? 1
  const balance = Math.min(0, customer.balance + row.total)
  const { customers, invoices } = world.state.tables
  const paid = { balance, next_invoice_sequence: sequence + 1 }
  const told = balance === customer.balance ? null : 'customer.updated'
  changeRow(world, customers, { row: customer, changes: paid }, told)
  const page = `${world.baseUrl}/i/${row.id}`
  const changes = {
    lines: row.lines,
    status: 'open',
    automatically_finalizes_at: null,
    effective_at: world.now(),
    ending_balance: balance,
    hosted_invoice_url: page,
    invoice_pdf: `${page}/pdf`,
    number: `${customer.invoice_prefix}-${String(sequence).padStart(4, '0')}`,
    status_transitions: { ...row.status_transitions, finalized_at: world.now() },
  }
  const open = changeRow(world, invoices, { row, changes }, 'invoice.finalized')
  const subscription = subscriptionOf(world, open)
  const used = new Set((open.total_discount_amounts ?? []).map(({ discount }) => String(discount)))
  if (subscription !== null) endOnce(world, subscription, used)
  return open
}

/** Charges what is due. The outcome is in the status: `paid`, or still `open`. */
export function payInvoice(
  world: World,
  row: Stripe.Invoice,
  method: string | null = methodFor(world, row),
): Stripe.Invoice {
  const { invoices } = world.state.tables
  const attempts = row.attempt_count + (row.amount_due > 0 ? 1 : 0)
  if (row.amount_due === 0 || cardOf(world, method) === 'pays') {
    const changes = {
      status: 'paid',
      amount_paid: row.amount_due,
      amount_remaining: 0,
      attempt_count: attempts,
      attempted: true,
      next_payment_attempt: null,
      status_transitions: { ...row.status_transitions, paid_at: world.now() },
    }
    const paid = changeRow(world, invoices, { row, changes }, 'invoice.updated')
    emit(world, 'invoice.paid', paid)
    emit(world, 'invoice.payment_succeeded', paid)
    return paid
  }
  const changes = {
    attempt_count: attempts,
    attempted: true,
    next_payment_attempt: nextAttempt(world, row, attempts),
  }
  const failed = changeRow(world, invoices, { row, changes }, 'invoice.updated')
  emit(world, 'invoice.payment_failed', failed)
  return failed
}

/** Whether a charge of the subscription would be paid. */
export function canPay(world: World, subscription: Stripe.Subscription): boolean {
  return cardOf(world, defaultMethod(world, subscription)) === 'pays'
}

/** What the subscription is charged to: its own payment method, else that of its customer. */
export function defaultMethod(
  world: World,
  { default_payment_method, customer }: Stripe.Subscription,
): string | null {
  if (default_payment_method !== null) return String(default_payment_method)
  const settings = getCustomer(world, String(customer)).invoice_settings
  return settings.default_payment_method === null ? null : String(settings.default_payment_method)
}

function addInvoice(world: World, invoice: Stripe.Invoice): Stripe.Invoice {
  return addRow(world, world.state.tables.invoices, invoice, 'invoice.created')
}

/** A draft's usage lines as of now: late meter events belong to the finished period. */
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
  const { balance } = getCustomer(world, String(draft.customer))
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
