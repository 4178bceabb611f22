import type Stripe from 'stripe'
import * as v from 'valibot'
import { isWithin, listPage } from '../http/list.ts'
import { Address, Created, Metadata, Page, Text } from '../http/params.ts'
import { Nothing, type Route, route } from '../http/route.ts'
import { badRequest } from '../http/stripe-error.ts'
import { newId } from '../ids.ts'
import { addRow, changeRow, getRow, type World } from '../world.ts'
import { mergeMetadata } from './metadata.ts'
import { requireOwnMethod } from './own-method.ts'

const TaxExempt = v.picklist(['', 'none', 'exempt', 'reverse'])

const CustomerFields = {
  address: v.optional(v.union([v.literal(''), Address])),
  description: v.optional(Text),
  email: v.optional(Text),
  name: v.optional(Text),
  phone: v.optional(Text),
  metadata: v.optional(Metadata),
  preferred_locales: v.optional(v.array(Text)),
  tax_exempt: v.optional(TaxExempt),
  invoice_settings: v.optional(v.strictObject({ default_payment_method: v.optional(Text) })),
}

const CreateParams = v.strictObject({ ...CustomerFields, payment_method: v.optional(Text) })
const UpdateParams = v.strictObject(CustomerFields)
type CustomerParams = v.InferOutput<typeof UpdateParams>

const ListParams = v.strictObject({
  ...Page,
  email: v.optional(Text),
  created: v.optional(Created),
})

export const customerRoutes: readonly Route[] = [
  route('POST /v1/customers', CreateParams, ({ world, params: { payment_method, ...params } }) => {
    const customer = newCustomer(world)
    const method = payment_method === undefined ? {} : attachTo(world, customer.id, payment_method)
    const row = { ...customer, ...changesOf(customer, params), ...method }
    return addRow(world, world.state.tables.customers, row, 'customer.created')
  }),
  route('GET /v1/customers', ListParams, ({ world, params }) => {
    const customers = [...world.state.tables.customers.values()].filter(
      ({ email, created }) =>
        (params.email === undefined || params.email === email) && isWithin(created, params.created),
    )
    return listPage('/v1/customers', customers, params)
  }),
  route('GET /v1/customers/:id', Nothing, ({ world, id }) =>
    world.state.deletedIds.get(id) === 'customer' ? deletedCustomer(id) : getCustomer(world, id),
  ),
  route('POST /v1/customers/:id', UpdateParams, ({ world, params, id }) => {
    const row = getCustomer(world, id)
    requireOwnMethod(world, id, {
      id: params.invoice_settings?.default_payment_method,
      param: 'invoice_settings[default_payment_method]',
    })
    const changes = changesOf(row, params)
    return changeRow(world, world.state.tables.customers, { row, changes }, 'customer.updated')
  }),
]

/** `param` is the parameter that named the customer, if the path did not. */
export function getCustomer(world: World, id: string, param?: string): Stripe.Customer {
  return getRow(world.state.tables.customers, id, 'customer', param)
}

export function newCustomer(world: World): Stripe.Customer {
  return {
    id: newId('cus', 14),
    object: 'customer',
    address: null,
    balance: 0,
    created: world.now(),
    currency: null,
    default_source: null,
    delinquent: false,
    description: null,
    discount: null,
    email: null,
    invoice_prefix: newId('inv', 8).slice(4).toUpperCase(),
    invoice_settings: {
      custom_fields: null,
      default_payment_method: null,
      footer: null,
      rendering_options: null,
    },
    livemode: false,
    metadata: {},
    name: null,
    next_invoice_sequence: 1,
    phone: null,
    preferred_locales: [],
    shipping: null,
    tax_exempt: 'none',
    test_clock: null,
  }
}

function changesOf(customer: Stripe.Customer, params: CustomerParams): Partial<Stripe.Customer> {
  const { address, invoice_settings, metadata, preferred_locales, tax_exempt, ...texts } = params
  const method = invoice_settings?.default_payment_method
  return {
    ...emptyToNull(texts),
    ...(address !== undefined && { address: toAddress(address) }),
    ...(preferred_locales !== undefined && { preferred_locales }),
    ...(tax_exempt !== undefined && { tax_exempt: tax_exempt || 'none' }),
    ...(metadata !== undefined && { metadata: mergeMetadata(customer.metadata, metadata) }),
    ...(method !== undefined && {
      invoice_settings: { ...customer.invoice_settings, default_payment_method: method || null },
    }),
  }
}

function emptyToNull(texts: Readonly<Record<string, string | undefined>>) {
  const told = Object.entries(texts).filter(([, text]) => text !== undefined)
  return Object.fromEntries(told.map(([name, text]) => [name, text || null]))
}

function toAddress(address: '' | v.InferOutput<typeof Address>): Stripe.Address | null {
  if (address === '') return null
  const { line1, line2, city, state, postal_code, country } = address
  if (country && !isCountry(country)) {
    throw badRequest(`Country '${country}' is unknown.`, { param: 'address[country]' })
  }
  return {
    line1: line1 || null,
    line2: line2 || null,
    city: city || null,
    state: state || null,
    postal_code: postal_code || null,
    country: country || null,
  }
}

const REGIONS = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })

function isCountry(code: string): boolean {
  return /^[A-Z]{2}$/.test(code) && REGIONS.of(code) !== undefined
}

function attachTo(world: World, customer: string, id: string): Partial<Stripe.Customer> {
  const { paymentMethods } = world.state.tables
  const row = getRow(paymentMethods, id, 'PaymentMethod', 'payment_method')
  changeRow(world, paymentMethods, { row, changes: { customer } }, 'payment_method.attached')
  return {}
}

export function deletedCustomer(id: string): Stripe.DeletedCustomer {
  return { id, object: 'customer', deleted: true }
}
