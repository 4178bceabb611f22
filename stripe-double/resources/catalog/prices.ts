import Stripe from 'stripe'
import * as v from 'valibot'
import { Decimal, Flag, Integer, optional, Text, withOptional } from '../../http/params.ts'
import { Nothing, type Route, route } from '../../http/route.ts'
import { badRequest, missingParam } from '../../http/stripe-error.ts'
import { newId } from '../../ids.ts'
import { newObject } from '../../new-object.ts'
import { addRow, changeRow, getRow, type World } from '../../world.ts'

const Recurring = withOptional(
  { interval: v.picklist(['day', 'week', 'month', 'year']) },
  { interval_count: Integer, meter: Text, usage_type: v.picklist(['licensed', 'metered']) },
)

const ProductParams = v.strictObject({ name: Text })

const UpdateParams = v.strictObject({ active: Flag })

const Amount = optional({ unit_amount: Integer, unit_amount_decimal: Decimal })

const CreateParams = withOptional(
  { currency: Text },
  {
    currency_options: v.record(Text, Amount),
    lookup_key: Text,
    product: Text,
    product_data: ProductParams,
    recurring: Recurring,
    tax_behavior: v.picklist(['exclusive', 'inclusive', 'unspecified']),
    unit_amount: Integer,
    unit_amount_decimal: Decimal,
  },
)

export const priceRoutes: readonly Route[] = [
  route('POST /v1/products', ProductParams, ({ world, params }) => addProduct(world, params.name)),
  route('POST /v1/products/:id', UpdateParams, ({ world, params, id }) =>
    changeRow(world, getRow(world, 'products', id), params, 'product.updated'),
  ),
  route('POST /v1/prices', CreateParams, ({ world, params }) => addPrice(world, params)),
  route('GET /v1/prices/:id', Nothing, ({ world, id }) => getRow(world, 'prices', id)),
  route('POST /v1/prices/:id', UpdateParams, ({ world, params, id }) =>
    changeRow(world, getRow(world, 'prices', id), params, 'price.updated'),
  ),
]

export function isMetered(price: Stripe.Price): boolean {
  return price.recurring?.usage_type === 'metered'
}

export function addPrice(world: World, params: v.InferOutput<typeof CreateParams>): Stripe.Price {
  const amount = params.unit_amount_decimal ?? params.unit_amount
  if (amount === undefined) throw missingParam('unit_amount')
  const { currency, lookup_key = null, recurring, tax_behavior = 'unspecified' } = params
  const id = newId('price')
  keepCurrencies(world, id, { ...params, unit_amount: amount })
  const price = newObject<Stripe.Price>(world, {
    id,
    object: 'price',
    active: true,
    billing_scheme: 'per_unit',
    currency: currency.toLowerCase(),
    lookup_key,
    product: productOf(world, params),
    recurring: recurring === undefined ? null : toRecurring(world, recurring),
    tax_behavior,
    transform_quantity: null,
    type: recurring === undefined ? 'one_time' : 'recurring',
    unit_amount: Number.isInteger(amount) ? amount : null,
    unit_amount_decimal: Stripe.Decimal.from(amount),
  })
  return addRow(world, 'prices', price, 'price.created')
}

/** Stripe shows them only if they are expanded, together with the currency of the price itself. */
function keepCurrencies(
  world: World,
  id: string,
  { currency, currency_options = {}, unit_amount: own }: v.InferOutput<typeof CreateParams>,
): void {
  const all: Record<string, v.InferOutput<typeof Amount>> = {
    ...currency_options,
    [currency.toLowerCase()]: { unit_amount: own },
  }
  const options = Object.entries(all).map(
    ([name, { unit_amount, unit_amount_decimal: amount = unit_amount ?? 0 }]) => [
      name.toLowerCase(),
      {
        custom_unit_amount: null,
        tax_behavior: null,
        unit_amount: Number.isInteger(amount) ? amount : null,
        unit_amount_decimal: Stripe.Decimal.from(amount),
      },
    ],
  )
  world.state.currencyOptions.set(id, Object.fromEntries(options))
}

function productOf(world: World, params: v.InferOutput<typeof CreateParams>): string {
  if (params.product_data !== undefined) return addProduct(world, params.product_data.name).id
  return getRow(world, 'products', params.product ?? '', 'product').id
}

function toRecurring(
  world: World,
  { interval, interval_count = 1, meter, usage_type = 'licensed' }: v.InferOutput<typeof Recurring>,
): Stripe.Price.Recurring {
  if (usage_type === 'metered' && meter === undefined) {
    throw badRequest('A metered price must be backed by a meter', { param: 'recurring[meter]' })
  }
  if (meter !== undefined) {
    getRow(world, 'meters', meter, 'recurring[meter]')
  }
  return { interval, interval_count, meter: meter ?? null, trial_period_days: null, usage_type }
}

export function addProduct(world: World, name: string): Stripe.Product {
  const row = { id: newId('prod', 14), object: 'product', name } as const
  return addRow(world, 'products', newObject<Stripe.Product>(world, row), 'product.created')
}
