import type { AuditAction } from '../../contract/account/audit-actions.ts'
import type { AddressBody } from '../../contract/billing/billing-account-bodies.ts'
import type { BillingDetails, Invoice } from '../../contract/billing/billing-schemas.ts'
import { ApiError } from '../../parts/errors.ts'
import type { Actor, Billing } from '../billing.ts'
import { getCustomer } from '../stripe/customers.ts'
import { taxOf } from '../stripe/invoice-tax.ts'
import { MAX_PAGE, type Stripe } from '../stripe/stripe-calls.ts'
import { BillingUnavailable, ifInvalid, isMissing } from '../stripe/stripe-refusal.ts'
import { findCustomer } from '../subscription/customers.ts'

/**
 * Runs `work` on the user's customer at Stripe. Throws NO_BILLING_ACCOUNT if the user has no customer
 * (without asking Stripe), or if Stripe reports that an object does not exist.
 */
export async function withAccount<Result>(
  billing: Billing,
  userId: string,
  work: (stripe: Stripe, customerId: string) => Promise<Result>,
): Promise<Result> {
  const customer = await findCustomer(billing.db, userId)
  if (customer === null) throw noAccount()
  const stripe = billing.openStripe()
  try {
    return await work(stripe, customer.customerId)
  } catch (error) {
    throw isMissing(error) ? noAccount() : error
  }
}

/** Like `withAccount`, but also writes an audit row after `work`. */
function changeAccount<Result>(
  billing: Billing,
  actor: Actor,
  action: AuditAction,
  work: (stripe: Stripe, customerId: string) => Promise<Result>,
): Promise<Result> {
  return withAccount(billing, actor.userId, async (stripe, customerId) => {
    const result = await work(stripe, customerId)
    const note = { action, targetType: 'customer', targetId: customerId }
    await billing.change([actor.audit(note)])
    return result
  })
}

/** Opens the customer portal, which links back to `returnUrl`. Returns its URL, which is secret. */
export async function openPortal(
  billing: Billing,
  actor: Actor,
  returnUrl: string,
): Promise<string> {
  const { url } = await changeAccount(billing, actor, 'open_portal', (stripe, customer) =>
    stripe.billingPortal.sessions.create({ customer, return_url: returnUrl }),
  )
  return url
}

/** The last hundred, newest first: eight years of monthly ones. */
export function listInvoices(billing: Billing, userId: string): Promise<Invoice[]> {
  return withAccount(billing, userId, async (stripe, customer) => {
    const { data } = await stripe.invoices.list({ customer, limit: MAX_PAGE })
    return data.map(toInvoice)
  })
}

interface WantedInvoices {
  readonly from: number
  readonly to: number
  readonly after: string | undefined
}

/**
 * A page of the invoices of all customers that were made between `from` and before `to`, in seconds since 1970,
 * newest first. `after`: the last invoice of the page before. See https://docs.stripe.com/api/invoices/list.
 */
export async function listInvoicesOfAll(stripe: Stripe, { from, to, after }: WantedInvoices) {
  const page = { limit: MAX_PAGE, ...(after !== undefined && { starting_after: after }) }
  const { data } = await stripe.invoices.list({ created: { gte: from, lt: to }, ...page })
  return data.map(toInvoiceOfAll)
}

export function getBillingDetails(billing: Billing, userId: string): Promise<BillingDetails> {
  return withAccount(billing, userId, async (stripe, customer) => {
    const { name = null, email, address = null } = await getCustomer(stripe, customer)
    return { name, email, address: address && toAddress(address) }
  })
}

/**
 * Replaces the whole address: omitted lines become empty. With automatic tax, throws BAD_REQUEST if the
 * address does not say which tax applies.
 */
export async function updateAddress(
  billing: Billing,
  actor: Actor,
  body: AddressBody,
): Promise<void> {
  const tax = { validate_location: 'immediately' } as const
  const params = { address: toParams(body), ...(billing.tax === 'automatic' && { tax }) }
  await changeAccount(billing, actor, 'update_address', (stripe, customer) =>
    stripe.customers.update(customer, params).catch(ifInvalid('The address is not valid')),
  )
}

/** Returns the client secret with which Stripe's form adds a payment method. */
export async function createSetupIntent(billing: Billing, actor: Actor): Promise<string> {
  // Without a Stripe key, even a user without a customer gets BILLING_NOT_CONFIGURED.
  billing.openStripe()
  const rest = { usage: 'off_session', automatic_payment_methods: { enabled: true } } as const
  const intent = await changeAccount(billing, actor, 'create_setup_intent', (stripe, customer) =>
    stripe.setupIntents.create({ customer, ...rest }),
  )
  if (intent.client_secret === null) throw new BillingUnavailable()
  return intent.client_secret
}

function noAccount(): ApiError {
  return new ApiError(
    'NO_BILLING_ACCOUNT',
    'There is no billing account: subscribe to a plan first',
  )
}

function toParams({ line1, country, ...rest }: AddressBody) {
  return {
    line1,
    line2: rest.line2 ?? '',
    city: rest.city ?? '',
    state: rest.state ?? '',
    postal_code: rest.postal_code ?? rest.postalCode ?? '',
    country,
  }
}

function toAddress({ line1, line2, city, state, postal_code, country }: Stripe.Address) {
  return { line1, line2, city, state, postalCode: postal_code, country }
}

/** Amounts are in the smallest unit of the currency. */
function toInvoiceOfAll(invoice: Stripe.Invoice) {
  const { customer } = invoice
  return {
    id: invoice.id,
    number: invoice.number ?? undefined,
    createdAt: new Date(invoice.created * 1000).toISOString(),
    status: invoice.status ?? undefined,
    customer: typeof customer === 'string' ? customer : customer?.id,
    name: invoice.customer_name ?? undefined,
    email: invoice.customer_email ?? undefined,
    country: invoice.customer_address?.country ?? undefined,
    currency: invoice.currency,
    tax: taxOf(invoice).tax ?? 0,
    total: invoice.total,
    paid: invoice.amount_paid,
  }
}

function toInvoice(invoice: Stripe.Invoice): Invoice {
  return {
    id: invoice.id,
    number: invoice.number,
    status: invoice.status,
    currency: invoice.currency,
    amountDue: invoice.amount_due,
    amountPaid: invoice.amount_paid,
    ...taxOf(invoice),
    createdAt: new Date(invoice.created * 1000).toISOString(),
    hostedInvoiceUrl: invoice.hosted_invoice_url ?? null,
    pdfUrl: invoice.invoice_pdf ?? null,
  }
}
