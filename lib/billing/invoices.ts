import type Stripe from 'stripe'
import type { Invoice } from '../contract/billing-schemas.ts'
import type { Billing } from './billing.ts'
import { withAccount } from './with-account.ts'

/** A page of Stripe: eight years of months. */
const MOST = 100

/** The invoices of the user, newest first. */
export function listInvoices(billing: Billing, userId: string): Promise<Invoice[]> {
  return withAccount(billing, userId, async (calls, customer) => {
    const { data } = await calls.read((stripe, options) =>
      stripe.invoices.list({ customer, limit: MOST }, options),
    )
    return data.map(toInvoice)
  })
}

function toInvoice(invoice: Stripe.Invoice): Invoice {
  return {
    id: invoice.id,
    number: invoice.number,
    status: invoice.status,
    currency: invoice.currency,
    amountDue: invoice.amount_due,
    amountPaid: invoice.amount_paid,
    createdAt: new Date(invoice.created * 1000).toISOString(),
    hostedInvoiceUrl: invoice.hosted_invoice_url ?? null,
    pdfUrl: invoice.invoice_pdf ?? null,
  }
}
