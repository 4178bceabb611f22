import type Stripe from 'stripe'
import * as v from 'valibot'
import { newInvoice } from '../billing/new-invoice.ts'
import { payOpenInvoice, voidOpenInvoice } from '../billing/pay-open-invoice.ts'
import { withLines } from '../billing/settle-invoice.ts'
import { listPage } from '../http/list.ts'
import { Flag, Integer, optional, Page, Text, withOptional } from '../http/params.ts'
import { Nothing, type Route, route } from '../http/route.ts'
import { badRequest } from '../http/stripe-error.ts'
import { ItemParams, ProrationParams } from '../subscriptions/change-params.ts'
import { computeChange } from '../subscriptions/compute-change.ts'
import { changeRow, getRow, rowsOf, type World } from '../world.ts'
import { requireOwnMethod } from './cards.ts'

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
      trial_end: ProrationParams.trial_end,
    },
  ),
})

const ListParams = optional({
  ...Page.entries,
  created: optional({ gte: Integer, lt: Integer }),
  customer: Text,
  status: v.picklist(['draft', 'open', 'paid', 'uncollectible', 'void']),
  subscription: Text,
})

const UpdateParams = optional({ auto_advance: Flag })

const RemoveParams = v.strictObject({
  lines: v.array(v.strictObject({ id: Text, behavior: v.literal('delete') })),
})

const PayParams = optional({ off_session: Flag, payment_method: Text })

export const invoiceRoutes: readonly Route[] = [
  route('POST /v1/invoices/create_preview', PreviewParams, ({ world, params }) =>
    previewInvoice(world, params),
  ),
  route('GET /v1/invoices', ListParams, ({ world, params }) => {
    const { created: { gte = 0, lt = Infinity } = {}, customer, status, subscription } = params
    const rows = rowsOf(world, 'invoices').filter(
      (row) =>
        row.created >= gte &&
        row.created < lt &&
        (customer ?? row.customer) === row.customer &&
        (status ?? row.status) === row.status &&
        (subscription ?? subscriptionIdOf(row)) === subscriptionIdOf(row),
    )
    return listPage('/v1/invoices', rows, params)
  }),
  route('GET /v1/invoices/:id/lines', Page, ({ world, params, id }) => {
    const { lines } = getRow(world, 'invoices', id)
    return listPage(`/v1/invoices/${id}/lines`, lines.data.toReversed(), params)
  }),
  route('POST /v1/invoices/:id', UpdateParams, ({ world, params, id }) => {
    const row = getRow(world, 'invoices', id)
    const { auto_advance = row.auto_advance } = params
    if (auto_advance === row.auto_advance) return row
    // An hour later, a draft is finalized and an open invoice is charged.
    const at = auto_advance ? world.now() + 3_600 : null
    return row.status === 'draft'
      ? changeRow(world, row, { auto_advance, automatically_finalizes_at: at })
      : changeRow(world, row, { auto_advance, next_payment_attempt: at })
  }),
  route('POST /v1/invoices/:id/pay', PayParams, ({ world, params, id }) => {
    const row = getRow(world, 'invoices', id)
    const { payment_method: method } = params
    requireOwnMethod(world, String(row.customer), { id: method, param: 'payment_method' })
    return payOpenInvoice(world, row, method === undefined ? {} : { method })
  }),
  route('POST /v1/invoices/:id/remove_lines', RemoveParams, ({ world, params, id }) => {
    const row = getRow(world, 'invoices', id)
    if (row.status !== 'draft') throw badRequest('You can only remove lines of a draft.')
    const ids = params.lines.map((line) => line.id)
    const left = row.lines.data.filter((line) => !ids.includes(line.id))
    return changeRow(world, row, withLines(world, row, left))
  }),
  route('POST /v1/invoices/:id/void', Nothing, ({ world, id }) =>
    voidOpenInvoice(world, getRow(world, 'invoices', id)),
  ),
]

function subscriptionIdOf({ parent }: Stripe.Invoice) {
  return parent?.subscription_details?.subscription
}

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
