import type Stripe from 'stripe'
import type { StripeConfig } from '../../config/config.ts'
import type { AddressBody } from '../../contract/billing/billing-account-bodies.ts'
import type { BillingDetails, Invoice } from '../../contract/billing/billing-schemas.ts'
import type { StripeCalls } from './stripe-calls.ts'
import { ifInvalid, ifMissing, StripeRefusal } from './stripe-refusal.ts'
import { taxOf } from './tax/invoice-tax.ts'

/** The largest page that Stripe returns. For invoices, it is eight years of monthly ones. */
const MAX_PAGE = 100

/** An empty `name` removes the customer's name. */
interface Contact {
  readonly email?: string
  readonly name?: string
}

interface WantedInvoices {
  readonly from: number
  readonly to: number
  readonly after: string | undefined
}

export function customerCalls(calls: StripeCalls) {
  const { read, write } = calls
  return {
    /** Whether the account has, or had, the customer. */
    hasCustomer: async (id: string): Promise<boolean> =>
      (await readCustomer(calls, id)) !== 'missing',

    /** Changes only the given fields of the customer. */
    updateContact: async (id: string, contact: Contact): Promise<void> => {
      await write((sdk, options) => sdk.customers.update(id, contact, options))
    },

    getBillingDetails: async (customerId: string): Promise<BillingDetails> => {
      const { name = null, email, address = null } = await getCustomer(calls, customerId)
      return { name, email, address: address && toAddress(address) }
    },

    /**
     * Replaces the whole address: omitted lines become empty. With automatic tax, throws BAD_REQUEST if
     * the address does not say which tax applies.
     */
    updateAddress: async (
      customerId: string,
      body: AddressBody,
      tax: StripeConfig['tax'],
    ): Promise<void> => {
      const params = {
        address: toParams(body),
        ...(tax === 'automatic' && { tax: { validate_location: 'immediately' as const } }),
      }
      await write((sdk, options) => sdk.customers.update(customerId, params, options)).catch(
        ifInvalid('The address is not valid'),
      )
    },

    /** Newest first. */
    listInvoices: async (customer: string): Promise<Invoice[]> => {
      const { data } = await read((sdk, options) =>
        sdk.invoices.list({ customer, limit: MAX_PAGE }, options),
      )
      return data.map(toInvoice)
    },

    /**
     * A page of the invoices of all customers that were made between `from` and before `to`, in seconds since 1970,
     * newest first. `after`: the last invoice of the page before. See https://docs.stripe.com/api/invoices/list.
     */
    listInvoicesOfAll: async ({ from, to, after }: WantedInvoices) => {
      const created = { gte: from, lt: to }
      const page = { limit: MAX_PAGE, ...(after !== undefined && { starting_after: after }) }
      const { data } = await read((sdk, options) =>
        sdk.invoices.list({ created, ...page }, options),
      )
      return data.map(toInvoiceOfAll)
    },

    /** Opens the customer portal, which links back to `returnUrl`. Returns its URL, which is secret. */
    openPortal: async (customer: string, returnUrl: string): Promise<string> => {
      const params = { customer, return_url: returnUrl }
      return (await write((sdk, options) => sdk.billingPortal.sessions.create(params, options))).url
    },
  }
}

/**
 * Stripe remembers deleted customers for good. So a customer that it does not know at all belongs to
 * another account or mode.
 */
export async function readCustomer(
  { read }: StripeCalls,
  id: string,
  expand: string[] = [],
): Promise<Stripe.Customer | 'deleted' | 'missing'> {
  const customer = await read((sdk, options) =>
    sdk.customers.retrieve(id, { expand }, options),
  ).catch(ifMissing(null))
  if (customer === null) return 'missing'
  return customer.deleted ? 'deleted' : customer
}

/** Treats a deleted customer as missing, like one that never existed. */
export async function getCustomer(
  calls: StripeCalls,
  id: string,
  expand: string[] = [],
): Promise<Stripe.Customer> {
  const customer = await readCustomer(calls, id, expand)
  if (typeof customer === 'string') throw new StripeRefusal('resource_missing')
  return customer
}

function toParams(body: AddressBody) {
  const { line1, country } = body
  return {
    line1,
    line2: body.line2 ?? '',
    city: body.city ?? '',
    state: body.state ?? '',
    postal_code: body.postal_code ?? body.postalCode ?? '',
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
