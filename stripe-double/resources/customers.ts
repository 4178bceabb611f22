import type Stripe from 'stripe'
import * as v from 'valibot'
import { listRoute } from '../http/list.ts'
import {
  Address,
  EMPTY_ADDRESS,
  Metadata,
  mergeMetadata,
  optional,
  Page,
  Text,
} from '../http/params.ts'
import { Nothing, type Route, route } from '../http/route.ts'
import { badRequest } from '../http/stripe-error.ts'
import { newId } from '../ids.ts'
import { newObject } from '../new-object.ts'
import { endSubscription } from '../subscriptions/end-subscription.ts'
import { invalidLocation, isTaxLocation } from '../tax/tax-rule.ts'
import {
  addRow,
  changeRow,
  deleteRow,
  getRow,
  liveSubscriptions,
  rowsOf,
  type World,
} from '../world.ts'
import { requireOwnMethod } from './cards.ts'
import { isCountry } from './countries.ts'

const CustomerParams = optional({
  address: v.union([v.literal(''), Address]),
  description: Text,
  email: Text,
  name: Text,
  phone: Text,
  metadata: Metadata,
  invoice_settings: optional({ default_payment_method: Text }),
  tax: v.strictObject({ validate_location: v.picklist(['deferred', 'immediately']) }),
})
type CustomerParams = v.InferOutput<typeof CustomerParams>

const CreateParams = optional({ ...CustomerParams.entries, test_clock: Text })

const SearchParams = v.strictObject({ query: v.string(), limit: Page.entries.limit })

export const customerRoutes: readonly Route[] = [
  route('POST /v1/customers', CreateParams, ({ world, params: { test_clock, ...params } }) => {
    const customer = newCustomer(world)
    const clock = test_clock && getRow(world, 'testClocks', test_clock, 'test_clock').id
    const row = { ...customer, ...changesOf(customer, params), test_clock: clock ?? null }
    return addRow(world, 'customers', row, 'customer.created')
  }),
  listRoute('/v1/customers', 'customers', { email: Text }),
  route('GET /v1/customers/search', SearchParams, ({ world, params }) => searchPage(world, params)),
  route('GET /v1/customers/:id', Nothing, ({ world, id }) =>
    world.state.deletedIds.get(id) === 'customer'
      ? { id, object: 'customer', deleted: true }
      : getRow(world, 'customers', id),
  ),
  route('POST /v1/customers/:id', CustomerParams, ({ world, params, id }) => {
    const row = getRow(world, 'customers', id)
    requireOwnMethod(world, id, {
      id: params.invoice_settings?.default_payment_method,
      param: 'invoice_settings[default_payment_method]',
    })
    return changeRow(world, row, changesOf(row, params), 'customer.updated')
  }),
  route('DELETE /v1/customers/:id', Nothing, ({ world, id }) =>
    deleteCustomer(world, getRow(world, 'customers', id)),
  ),
]

export function deleteCustomer(world: World, customer: Stripe.Customer) {
  const { id } = customer
  for (const row of liveSubscriptions(world, id)) endSubscription(world, row, 'discarded')
  const uncollected = { automatically_finalizes_at: null, next_payment_attempt: null }
  for (const row of rowsOf(world, 'invoices')) {
    if (row.customer === id) changeRow(world, row, uncollected)
  }
  world.state.deletedIds.set(id, 'customer')
  return deleteRow(world, customer, 'customer.deleted')
}

/** Unlike Stripe, finds new customers at once. */
function searchPage(
  world: World,
  { query, limit = 10 }: v.InferOutput<typeof SearchParams>,
): Stripe.ApiSearchResult<Stripe.Customer> {
  const [, field = '', value = ''] = /^metadata\['(\w+)'\]:'((?:[^'\\]|\\.)*)'$/.exec(query) ?? []
  if (field === '') throw badRequest("The double searches only for metadata['…']:'…'.")
  const wanted = value.replaceAll(/\\(.)/g, '$1')
  const found = rowsOf(world, 'customers').filter(({ metadata }) => metadata[field] === wanted)
  const data = found.toReversed().slice(0, limit)
  const url = '/v1/customers/search'
  return { object: 'search_result', data, has_more: found.length > limit, next_page: null, url }
}

function newCustomer(world: World): Stripe.Customer {
  return newObject<Stripe.Customer>(world, {
    id: newId('cus', 14),
    object: 'customer',
    address: null,
    balance: 0,
    currency: null,
    discount: null,
    email: null,
    invoice_prefix: newId('inv', 8).slice(4).toUpperCase(),
    invoice_settings: { default_payment_method: null },
    metadata: {},
    next_invoice_sequence: 1,
  })
}

function changesOf(customer: Stripe.Customer, params: CustomerParams): Partial<Stripe.Customer> {
  const { address, invoice_settings, metadata, tax, ...texts } = params
  const method = invoice_settings?.default_payment_method
  const place = address === undefined ? customer.address : toAddress(address)
  if (tax?.validate_location === 'immediately') requireLocation(place ?? null)
  return {
    ...emptyToNull(texts),
    ...(address !== undefined && { address: place }),
    ...(metadata !== undefined && { metadata: mergeMetadata(customer.metadata, metadata) }),
    ...(method !== undefined && {
      invoice_settings: { ...customer.invoice_settings, default_payment_method: method || null },
    }),
  }
}

function requireLocation(address: Stripe.Address | null): void {
  if (isTaxLocation(address)) return
  throw invalidLocation("The customer's location isn't recognized. Set a valid customer address.")
}

function emptyToNull(texts: Readonly<Record<string, string | undefined>>) {
  const given = Object.entries(texts).filter(([, text]) => text !== undefined)
  return Object.fromEntries(given.map(([name, text]) => [name, text || null]))
}

export function toAddress(address: '' | v.InferOutput<typeof Address>): Stripe.Address | null {
  if (address === '') return null
  const { country } = address
  if (country && !isCountry(country)) {
    throw badRequest(`Country '${country}' is unknown.`, { param: 'address[country]' })
  }
  return { ...EMPTY_ADDRESS, ...emptyToNull(address) }
}
