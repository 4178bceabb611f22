import type Stripe from 'stripe'
import * as v from 'valibot'
import { listPage } from '../http/list.ts'
import { Flag, Metadata, Page, Text } from '../http/params.ts'
import { Nothing, type Route, route } from '../http/route.ts'
import { newId } from '../ids.ts'
import { addRow, changeRow, getRow, type World } from '../world.ts'
import { mergeMetadata } from './metadata.ts'

const CreateParams = v.strictObject({
  id: v.optional(Text),
  name: Text,
  active: v.optional(Flag),
  description: v.optional(Text),
  metadata: v.optional(Metadata),
})

const UpdateParams = v.strictObject({
  name: v.optional(Text),
  active: v.optional(Flag),
  description: v.optional(Text),
  metadata: v.optional(Metadata),
})

const ListParams = v.strictObject({ ...Page, active: v.optional(Flag) })

export const productRoutes: readonly Route[] = [
  route('POST /v1/products', CreateParams, ({ world, params }) => addProduct(world, params)),
  route('GET /v1/products', ListParams, ({ world, params }) => {
    const products = [...world.state.tables.products.values()].filter(
      ({ active }) => params.active === undefined || params.active === active,
    )
    return listPage('/v1/products', products, params)
  }),
  route('GET /v1/products/:id', Nothing, ({ world, id }) =>
    getRow(world.state.tables.products, id, 'product'),
  ),
  route('POST /v1/products/:id', UpdateParams, ({ world, params, id }) => {
    const { products } = world.state.tables
    const row = getRow(products, id, 'product')
    const { name = row.name, active = row.active, description = row.description } = params
    const metadata = mergeMetadata(row.metadata, params.metadata)
    const changes = { name, active, description, metadata, updated: world.now() }
    return changeRow(world, products, { row, changes }, 'product.updated')
  }),
]

export function addProduct(
  world: World,
  params: v.InferOutput<typeof CreateParams>,
): Stripe.Product {
  const product: Stripe.Product = {
    id: params.id ?? newId('prod', 14),
    object: 'product',
    active: params.active ?? true,
    created: world.now(),
    default_price: null,
    description: params.description ?? null,
    images: [],
    livemode: false,
    marketing_features: [],
    metadata: mergeMetadata({}, params.metadata),
    name: params.name,
    package_dimensions: null,
    shippable: null,
    statement_descriptor: null,
    tax_code: null,
    tax_details: null,
    type: 'service',
    unit_label: null,
    updated: world.now(),
    url: null,
  }
  return addRow(world, world.state.tables.products, product, 'product.created')
}
