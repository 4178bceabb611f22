import type Stripe from 'stripe'
import * as v from 'valibot'
import { followInvoice } from '../billing/collect.ts'
import { PreviewParams, previewInvoice } from '../billing/preview.ts'
import { finalizeInvoice, payInvoice } from '../billing/settle-invoice.ts'
import { isWithin, listPage } from '../http/list.ts'
import { Created, Page, Text } from '../http/params.ts'
import { Nothing, type Route, route } from '../http/route.ts'
import { badRequest, declined } from '../http/stripe-error.ts'
import { changeRow, getRow, type World } from '../world.ts'

const ListParams = v.strictObject({
  ...Page,
  created: v.optional(Created),
  customer: v.optional(Text),
  status: v.optional(v.picklist(['draft', 'open', 'paid', 'uncollectible', 'void'])),
  subscription: v.optional(Text),
})

const PayParams = v.strictObject({ payment_method: v.optional(Text) })

export const invoiceRoutes: readonly Route[] = [
  route('POST /v1/invoices/create_preview', PreviewParams, ({ world, params }) =>
    previewInvoice(world, params),
  ),
  route('GET /v1/invoices', ListParams, ({ world, params }) => {
    const { customer, status, subscription } = params
    const rows = [...world.state.tables.invoices.values()].filter(
      (row) =>
        isWithin(row.created, params.created) &&
        (customer === undefined || customer === row.customer) &&
        (status === undefined || status === row.status) &&
        (subscription === undefined ||
          subscription === row.parent?.subscription_details?.subscription),
    )
    return listPage('/v1/invoices', rows, params)
  }),
  route('GET /v1/invoices/:id', Nothing, ({ world, id }) => getInvoice(world, id)),
  route('GET /v1/invoices/:id/lines', v.strictObject(Page), ({ world, params, id }) =>
    listPage(`/v1/invoices/${id}/lines`, getInvoice(world, id).lines.data, params),
  ),
  route('POST /v1/invoices/:id/pay', PayParams, ({ world, params, id }) => {
    const invoice = requireStatus(getInvoice(world, id), 'open')
    const paid = payInvoice(world, invoice, params.payment_method)
    followInvoice(world, paid)
    if (paid.status !== 'paid') throw declined()
    return paid
  }),
  route('POST /v1/invoices/:id/finalize', Nothing, ({ world, id }) =>
    finalizeInvoice(world, requireStatus(getInvoice(world, id), 'draft')),
  ),
  route('POST /v1/invoices/:id/void', Nothing, ({ world, id }) => {
    const row = requireStatus(getInvoice(world, id), 'open')
    const changes = { status: 'void', amount_remaining: 0, next_payment_attempt: null } as const
    return changeRow(world, world.state.tables.invoices, { row, changes }, 'invoice.voided')
  }),
]

function getInvoice(world: World, id: string): Stripe.Invoice {
  return getRow(world.state.tables.invoices, id, 'invoice')
}

function requireStatus(invoice: Stripe.Invoice, status: 'draft' | 'open'): Stripe.Invoice {
  if (invoice.status === status) return invoice
  if (invoice.status === 'paid') throw badRequest('Invoice is already paid')
  throw badRequest(`This invoice is ${invoice.status}, it must be ${status}`)
}
