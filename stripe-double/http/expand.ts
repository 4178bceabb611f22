import { liveSubscriptions, toWire, type World } from '../world.ts'
import { listPage } from './list.ts'
import { badRequest } from './stripe-error.ts'

type Json = { [name: string]: unknown }

/** Fields that Stripe omits unless they are expanded. */
const OMITTED: Readonly<Record<string, (world: World, id: string) => unknown>> = {
  'coupon.applies_to': (world, id) => world.state.couponProducts.get(id),
  'price.currency_options': (world, id) => world.state.currencyOptions.get(id),
  'customer.subscriptions': (world, id) =>
    listPage(`/v1/customers/${id}/subscriptions`, liveSubscriptions(world, id), {}),
}

/** Replaces the ids at `paths`, such as `data.customer`, with the objects they identify. */
export function expand(world: World, answer: object, paths: readonly string[]): Json {
  const copy: Json = toWire(answer)
  // Only the id of a deleted object is left.
  if (copy['deleted'] === true) return copy
  for (const path of paths) expandPath(world, copy, path.split('.'), path)
  shortenLines(copy)
  return copy
}

const SHOWN_LINES = 10

/** Invoices show only "the first handful" of their lines: https://docs.stripe.com/api/invoice-line-item/retrieve */
function shortenLines(value: unknown): void {
  if (!isJson(value)) return
  const { object, lines } = value
  const { data } = isJson(lines) ? lines : {}
  if (object === 'invoice' && Array.isArray(data) && data.length > SHOWN_LINES) {
    value['lines'] = { ...Object(lines), data: data.slice(0, SHOWN_LINES), has_more: true }
  }
  for (const child of Object.values(value)) shortenLines(child)
}

/** Expands the field at `names`, which is the rest of `path`. */
function expandPath(world: World, target: Json, names: readonly string[], path: string): void {
  const [name = '', ...rest] = names
  const field = name in target ? target[name] : omittedField(world, target, name)
  // A coupon for all products has no list of them.
  if (field === undefined) return
  const value = expandValue(world, field, path)
  target[name] = value
  if (rest.length === 0) return
  for (const child of Array.isArray(value) ? value : [value]) {
    if (isJson(child)) expandPath(world, child, rest, path)
  }
}

/** Returns undefined if the object does not have the field. */
function omittedField(world: World, { object, id }: Json, name: string): unknown {
  const find = OMITTED[`${object}.${name}`]
  if (find === undefined) throw cannotExpand(name)
  return find(world, String(id))
}

function expandValue(world: World, value: unknown, path: string): unknown {
  if (Array.isArray(value)) return value.map((one) => expandValue(world, one, path))
  if (typeof value !== 'string') return toWire(value)
  const table = Object.values(world.state.tables).find((rows) => rows.has(value))
  if (table === undefined) throw cannotExpand(path)
  return toWire(table.get(value))
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
