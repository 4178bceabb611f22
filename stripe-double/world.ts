import Stripe from 'stripe'
import { missing } from './http/stripe-error.ts'
import { newId } from './ids.ts'
import type { State } from './state.ts'

/** What every operation works on: the state, the clock and the webhooks. */
export interface World {
  readonly state: State
  /** The id of the Stripe account that the double plays. */
  readonly account: string
  /** Where the double listens, without a slash at the end. */
  readonly baseUrl: string
  /** Seconds since 1970 by the clock of the double. */
  now(): number
  /** Advances the clock, and does what becomes due. */
  advance(seconds: number): void
  deliver(event: Stripe.Event): void
}

export type Tables = State['tables']
export type RowOf<Name extends keyof Tables> =
  Tables[Name] extends Map<string, infer Row extends { readonly id: string }> ? Row : never

/** What Stripe's errors call the rows of each table. */
const NOUNS: Readonly<Record<keyof Tables, string>> = {
  customers: 'customer',
  products: 'product',
  prices: 'price',
  coupons: 'coupon',
  promotionCodes: 'promotion code',
  discounts: 'discount',
  taxIds: 'tax ID',
  paymentMethods: 'PaymentMethod',
  setupIntents: 'setupintent',
  sessions: 'checkout.session',
  portalSessions: 'billing portal session',
  subscriptions: 'subscription',
  invoices: 'invoice',
  meters: 'meter',
  testClocks: 'test clock',
}

/**
 * Finds the row, or throws Stripe's error. `param` names the parameter that contains the id; without
 * it, the id comes from the path.
 */
export function getRow<Name extends keyof Tables>(
  world: World,
  name: Name,
  id: string,
  param?: string,
): RowOf<Name> {
  const row = tableOf(world, name).get(id)
  if (row === undefined) throw missing(NOUNS[name], id, param)
  return row
}

/** The rows of a table, oldest first. */
export function rowsOf<Name extends keyof Tables>(world: World, name: Name): RowOf<Name>[] {
  return [...tableOf(world, name).values()]
}

/** The subscriptions of the customer that have not ended. */
export function liveSubscriptions(world: World, customer: unknown): Stripe.Subscription[] {
  const rows = rowsOf(world, 'subscriptions')
  return rows.filter((row) => row.customer === customer && row.ended_at === null)
}

/** Stores a new row. With a `type`, sends an event about it. */
export function addRow<Name extends keyof Tables>(
  world: World,
  name: Name,
  row: RowOf<Name>,
  type?: string,
): RowOf<Name> {
  tableOf(world, name).set(row.id, row)
  if (type !== undefined) emit(world, type, row)
  return row
}

interface AnyRow {
  readonly id: string
  readonly object: string
}

/**
 * Stores changes of a row, except those that are undefined. With a `type`, sends an event with the
 * previous values.
 */
export function changeRow<Row extends AnyRow>(
  world: World,
  row: Row,
  changes: { readonly [Field in keyof Row]?: Row[Field] | undefined },
  type?: string,
): Row {
  const changed = Object.entries(changes).filter(
    ([name, value]) => value !== undefined && !isSameJson(value, Reflect.get(row, name)),
  )
  const next: Row = { ...row, ...Object.fromEntries(changed) }
  const previous = Object.fromEntries(changed.map(([name]) => [name, Reflect.get(row, name)]))
  tableWith(world, row)?.set(row.id, next)
  if (type !== undefined && changed.length > 0) emit(world, type, next, previous)
  return next
}

/** Deletes a row and returns Stripe's answer. With a `type`, sends an event about it. */
export function deleteRow(world: World, row: AnyRow, type?: string) {
  tableWith(world, row)?.delete(row.id)
  if (type !== undefined) emit(world, type, row)
  return { id: row.id, object: row.object, deleted: true }
}

export function emit(world: World, type: string, object: object, previous?: object): void {
  const event = {
    id: newId('evt'),
    object: 'event',
    api_version: Stripe.API_VERSION,
    created: world.now(),
    data: {
      object: toWire(object),
      ...(previous !== undefined && { previous_attributes: toWire(previous) }),
    },
    livemode: false,
    pending_webhooks: world.state.webhooks.size,
    request: { id: null, idempotency_key: null },
    type,
    // safe: the type of an event is a union by `type`, which is a text here
  } as unknown as Stripe.Event
  world.deliver(event)
}

function tableOf<Name extends keyof Tables>(world: World, name: Name): Map<string, RowOf<Name>> {
  // safe: the table of this name has rows of this type
  return world.state.tables[name] as unknown as Map<string, RowOf<Name>>
}

/** The table that contains the row. Rows of other tables can have the same id. */
function tableWith(world: World, { id, object }: AnyRow) {
  const tables: readonly Map<string, AnyRow>[] = Object.values(world.state.tables)
  return tables.find((table) => table.get(id)?.object === object)
}

function isSameJson(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** A JSON copy, so that later changes do not alter what was already sent. */
export function toWire(object: unknown) {
  return JSON.parse(JSON.stringify(object))
}
