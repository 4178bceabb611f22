import type Stripe from 'stripe'
import * as v from 'valibot'
import { listPage } from '../http/list.ts'
import { Page, Text } from '../http/params.ts'
import { Nothing, type Route, route } from '../http/route.ts'
import { badRequest, missing } from '../http/stripe-error.ts'
import { newId } from '../ids.ts'
import { addRow, emit, type World } from '../world.ts'
import { getCustomer } from './customers.ts'
import { TAX_ID_TYPES } from './tax-id-types.ts'

const CreateParams = v.strictObject({ type: Text, value: Text })

/** The types whose form is checked; values of others are taken as they are. */
const FORMS: Readonly<Record<string, RegExp>> = {
  eu_vat: /^[A-Z]{2}[0-9A-Z]{8,12}$/,
  gb_vat: /^(GB|XI)?\d{9}(\d{3})?$/,
  us_ein: /^\d{2}-\d{7}$/,
  ch_vat: /^CHE-?\d{3}\.?\d{3}\.?\d{3}( (MWST|TVA|IVA))?$/,
  au_abn: /^\d{11}$/,
}

export const taxIdRoutes: readonly Route[] = [
  route('POST /v1/customers/:id/tax_ids', CreateParams, ({ world, params, id }) =>
    addTaxId(world, getCustomer(world, id).id, params),
  ),
  route('GET /v1/customers/:id/tax_ids', v.strictObject(Page), ({ world, params, id }) => {
    getCustomer(world, id)
    return listPage(`/v1/customers/${id}/tax_ids`, taxIdsOf(world, id), params)
  }),
  route('GET /v1/customers/:id/tax_ids/:nested', Nothing, ({ world, id, nested }) =>
    getTaxId(world, id, nested),
  ),
  route('DELETE /v1/customers/:id/tax_ids/:nested', Nothing, ({ world, id, nested }) => {
    const taxId = getTaxId(world, id, nested)
    world.state.tables.taxIds.delete(nested)
    emit(world, 'customer.tax_id.deleted', taxId)
    return { id: nested, object: 'tax_id', deleted: true } satisfies Stripe.DeletedTaxId
  }),
]

export function taxIdsOf(world: World, customer: string): Stripe.TaxId[] {
  return [...world.state.tables.taxIds.values()].filter((taxId) => taxId.customer === customer)
}

/** Refuses unknown types and values that are not of the type's form. */
export function addTaxId(
  world: World,
  customer: string,
  { type, value }: v.InferOutput<typeof CreateParams>,
): Stripe.TaxId {
  if (!TAX_ID_TYPES.has(type)) {
    throw badRequest(`Invalid type: must be one of ad_nrt, …, got ${type}`, { param: 'type' })
  }
  if (FORMS[type]?.test(value) === false) {
    throw badRequest(`Invalid value for ${type}.`, { code: 'tax_id_invalid', param: 'value' })
  }
  const taxId: Stripe.TaxId = {
    id: newId('txi'),
    object: 'tax_id',
    country: type === 'eu_vat' ? value.slice(0, 2) : type.slice(0, 2).toUpperCase(),
    created: world.now(),
    customer,
    customer_account: null,
    livemode: false,
    owner: { type: 'customer', customer, customer_account: null },
    type,
    value,
    verification: { status: 'verified', verified_address: null, verified_name: null },
  }
  return addRow(world, world.state.tables.taxIds, taxId, 'customer.tax_id.created')
}

function getTaxId(world: World, customer: string, id: string): Stripe.TaxId {
  const taxId = world.state.tables.taxIds.get(id)
  if (taxId === undefined || taxId.customer !== customer) throw missing('tax ID', id)
  return taxId
}
