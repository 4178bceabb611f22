import { lineItemsOf } from '../resources/checkout-sessions.ts'
import { taxIdsOf } from '../resources/tax-ids.ts'
import type { World } from '../world.ts'
import { findAnywhere, toList } from './list.ts'
import { badRequest } from './stripe-error.ts'

type Json = { [name: string]: unknown }

const MAX_DEPTH = 4

/** The answer with the fields of `paths` (`data.customer`) in full instead of their ids. */
export function expand(world: World, answer: object, paths: readonly string[]): Json {
  const copy: Json = JSON.parse(JSON.stringify(answer))
  // Of what was deleted there is nothing but its id.
  if (copy['deleted'] === true) return copy
  for (const path of paths) {
    const names = path.split('.')
    if (names.length - (names[0] === 'data' ? 1 : 0) > MAX_DEPTH) {
      throw badRequest(`You cannot expand more than ${MAX_DEPTH} levels of a property: ${path}`)
    }
    expandPath(world, copy, { names, path })
  }
  return copy
}

interface Step {
  readonly names: readonly string[]
  readonly path: string
}

function expandPath(world: World, target: Json, { names, path }: Step): void {
  const [name = '', ...rest] = names
  if (!(name in target)) target[name] = included(world, target, { names, path })
  const value = expandValue(world, target[name], path)
  target[name] = value
  if (rest.length === 0) return
  for (const child of Array.isArray(value) ? value : [value]) {
    if (isJson(child)) expandPath(world, child, { names: rest, path })
  }
}

function expandValue(world: World, value: unknown, path: string): unknown {
  if (Array.isArray(value)) return value.map((one) => expandValue(world, one, path))
  if (typeof value !== 'string') return value
  const found = findAnywhere(world, value)
  if (found === null) throw cannotExpand(path)
  return JSON.parse(JSON.stringify(found))
}

/** What is left out of an object unless it is asked for. */
function included(world: World, target: Json, { names, path }: Step): unknown {
  const { object, id } = target
  const { customers, invoices, sessions, subscriptions } = world.state.tables
  const key = `${object}.${names[0]}`
  const session = sessions.get(String(id))
  if (key === 'checkout.session.line_items' && session !== undefined) {
    return JSON.parse(JSON.stringify(lineItemsOf(world, session)))
  }
  if (key === 'coupon.applies_to') return world.state.couponProducts.get(String(id)) ?? null
  if (key === 'customer.tax_ids' && customers.has(String(id))) {
    return toList(`/v1/customers/${id}/tax_ids`, taxIdsOf(world, String(id)))
  }
  if (key === 'customer.subscriptions') {
    const rows = [...subscriptions.values()].filter(
      (row) => row.customer === id && row.ended_at === null,
    )
    return toList(`/v1/customers/${id}/subscriptions`, JSON.parse(JSON.stringify(rows)))
  }
  if (key === 'invoice.payments' && invoices.has(String(id))) {
    return toList(`/v1/invoices/${id}/payments`, [])
  }
  throw cannotExpand(path)
}

function cannotExpand(path: string) {
  return badRequest(
    `This property cannot be expanded (${path}). You may want to try expanding 'data.${path}' instead.`,
    { param: 'expand' },
  )
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null
}
