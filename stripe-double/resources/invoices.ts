import type Stripe from 'stripe'
import * as v from 'valibot'
import { newInvoice } from '../billing/new-invoice.ts'
import { listRoute } from '../http/list.ts'
import { Text, withOptional } from '../http/params.ts'
import { type Route, route } from '../http/route.ts'
import { badRequest } from '../http/stripe-error.ts'
import { ItemParams, ProrationParams } from '../subscriptions/change-params.ts'
import { computeChange } from '../subscriptions/compute-change.ts'
import { getRow, type World } from '../world.ts'

const PreviewParams = v.strictObject({
  subscription: Text,
  subscription_details: withOptional(
    {
      items: v.array(ItemParams),
      proration_behavior: v.literal('always_invoice', 'the double previews always_invoice only'),
    },
    {
      billing_cycle_anchor: ProrationParams.billing_cycle_anchor,
      proration_date: ProrationParams.proration_date,
    },
  ),
})

export const invoiceRoutes: readonly Route[] = [
  route('POST /v1/invoices/create_preview', PreviewParams, ({ world, params }) =>
    previewInvoice(world, params),
  ),
  listRoute('/v1/invoices', 'invoices', {
    customer: Text,
    status: v.picklist(['draft', 'open', 'paid', 'uncollectible', 'void']),
  }),
]

/** Previews the invoice that an update with the same parameters would charge at once. */
function previewInvoice(world: World, params: v.InferOutput<typeof PreviewParams>): Stripe.Invoice {
  const row = getRow(world, 'subscriptions', params.subscription, 'subscription')
  if (row.ended_at !== null) {
    throw badRequest('No upcoming invoices for customer', { code: 'invoice_upcoming_none' })
  }
  const { items, lines, period } = computeChange(world, row, params.subscription_details)
  const subscription = { ...row, items: { ...row.items, data: items } }
  return newInvoice(world, { subscription, lines, period, reason: 'upcoming' })
}
