import type Stripe from 'stripe'
import * as v from 'valibot'
import { listPage } from '../http/list.ts'
import { Page, Text } from '../http/params.ts'
import { Nothing, type Route, route } from '../http/route.ts'
import { badRequest, missing } from '../http/stripe-error.ts'
import { newId } from '../ids.ts'
import { newObject } from '../new-object.ts'
import { addRow, deleteRow, getRow, rowsOf, type World } from '../world.ts'

const CreateParams = v.strictObject({ type: Text, value: Text })

/** The known types, with the format of their values. */
const FORMATS: Readonly<Record<string, RegExp>> = {
  eu_vat: /^[A-Z]{2}[0-9A-Z]{8,12}$/,
  gb_vat: /^(GB|XI)?\d{9}(\d{3})?$/,
  us_ein: /^\d{2}-\d{7}$/,
  ch_vat: /^CHE-?\d{3}\.?\d{3}\.?\d{3}( (MWST|TVA|IVA))?$/,
  au_abn: /^\d{11}$/,
  ca_gst_hst: /./,
  eu_oss_vat: /./,
  zw_tin: /./,
}

export const taxIdRoutes: readonly Route[] = [
  route('POST /v1/customers/:id/tax_ids', CreateParams, ({ world, params, id }) =>
    addTaxId(world, getRow(world, 'customers', id).id, params),
  ),
  route('GET /v1/customers/:id/tax_ids', Page, ({ world, params, id }) => {
    getRow(world, 'customers', id)
    return listPage(`/v1/customers/${id}/tax_ids`, taxIdsOf(world, id), params)
  }),
  route('DELETE /v1/customers/:id/tax_ids/:nested', Nothing, ({ world, id, nested }) =>
    deleteRow(world, getTaxId(world, id, nested), 'customer.tax_id.deleted'),
  ),
]

function taxIdsOf(world: World, customer: string): Stripe.TaxId[] {
  return rowsOf(world, 'taxIds').filter((taxId) => taxId.customer === customer)
}

/** Throws Stripe's 400 for unknown types and malformed values. */
export function addTaxId(
  world: World,
  customer: string,
  { type, value }: v.InferOutput<typeof CreateParams>,
): Stripe.TaxId {
  const format = FORMATS[type]
  if (format === undefined) {
    const known = Object.keys(FORMATS).join(', ')
    throw badRequest(`Invalid type: must be one of ${known}, got ${type}`, { param: 'type' })
  }
  if (!format.test(value)) {
    throw badRequest(`Invalid value for ${type}.`, { code: 'tax_id_invalid', param: 'value' })
  }
  const taxId = newObject<Stripe.TaxId>(world, {
    id: newId('txi'),
    object: 'tax_id',
    country: type === 'eu_vat' ? value.slice(0, 2) : type.slice(0, 2).toUpperCase(),
    customer,
    type,
    value,
    verification: { status: 'verified', verified_address: null, verified_name: null },
  })
  return addRow(world, 'taxIds', taxId, 'customer.tax_id.created')
}

function getTaxId(world: World, customer: string, id: string): Stripe.TaxId {
  const taxId = world.state.tables.taxIds.get(id)
  if (taxId === undefined || taxId.customer !== customer) throw missing('tax ID', id)
  return taxId
}
