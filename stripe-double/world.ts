import Stripe from 'stripe'
import { missing } from './http/stripe-error.ts'
import { newId } from './ids.ts'
import type { State } from './state.ts'

/** The state, the time and the way out: what every operation works on. */
export interface World {
  readonly state: State
  /** Where the double listens, without a slash at the end. */
  readonly baseUrl: string
  /** Seconds since 1970 by the clock of the double. */
  now(): number
  deliver(event: Stripe.Event): void
}

interface Identified {
  readonly id: string
}

/** The row with this id. Throws Stripe's error; `param` tells which parameter named it. */
export function getRow<Row extends Identified>(
  table: ReadonlyMap<string, Row>,
  id: string,
  what: string,
  param?: string,
): Row {
  const row = table.get(id)
  if (row === undefined) throw missing(what, id, param)
  return row
}

/** Stores a new row and tells the world by an event of `type`. */
export function addRow<Row extends Identified>(
  world: World,
  table: Map<string, Row>,
  row: Row,
  type?: string,
): Row {
  table.set(row.id, row)
  if (type !== undefined) emit(world, type, row)
  return row
}

/** Stores changes of a row; the event of `type` tells what was there before. */
export function changeRow<Row extends Identified>(
  world: World,
  table: Map<string, Row>,
  { row, changes }: { row: Row; changes: Partial<Row> },
  type: string | null,
): Row {
  const next = { ...row, ...changes }
  table.set(row.id, next)
  const previous = differences(row, changes)
  if (type !== null && Object.keys(previous).length > 0) emit(world, type, next, previous)
  return next
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
    pending_webhooks: world.state.tables.webhookEndpoints.size,
    request: { id: null, idempotency_key: null },
    type,
    // safe: the type of an event is a union by `type`, which is a text here
  } as unknown as Stripe.Event
  world.state.tables.events.set(event.id, event)
  world.deliver(event)
}

function differences<Row extends object>(row: Row, changes: Partial<Row>): Partial<Row> {
  const previous: Partial<Row> = {}
  // safe: the keys of `changes` are keys of Row
  for (const key of Object.keys(changes) as (keyof Row)[]) {
    if (JSON.stringify(row[key]) !== JSON.stringify(changes[key])) previous[key] = row[key]
  }
  return previous
}

/** A copy as it goes over the wire: later changes must not reach an event that was told. */
function toWire(object: object): object {
  return JSON.parse(JSON.stringify(object))
}
