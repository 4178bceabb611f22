import type Stripe from 'stripe'
import * as v from 'valibot'
import { listRoute, toList } from '../http/list.ts'
import { Integer, Page, Text, withOptional } from '../http/params.ts'
import { Nothing, type Route, route } from '../http/route.ts'
import { badRequest } from '../http/stripe-error.ts'
import { newId } from '../ids.ts'
import { newObject } from '../new-object.ts'
import { addRow, changeRow, getRow, rowsOf, type World } from '../world.ts'

const SummaryParams = withOptional(
  { customer: Text, start_time: Integer, end_time: Integer },
  Page.entries,
)

const MeterParams = withOptional(
  {
    display_name: Text,
    event_name: Text,
    default_aggregation: v.strictObject({ formula: v.literal('sum', 'the double only sums') }),
  },
  {
    customer_mapping: v.strictObject({
      event_payload_key: v.literal('stripe_customer_id'),
      type: v.literal('by_id'),
    }),
    value_settings: v.strictObject({ event_payload_key: v.literal('value') }),
  },
)

export const meterRoutes: readonly Route[] = [
  route('POST /v1/billing/meters', MeterParams, ({ world, params }) => {
    const { display_name, event_name } = params
    const isUsed = activeMeters(world).some((meter) => meter.event_name === event_name)
    if (!isUsed) return addMeter(world, display_name, event_name)
    throw badRequest('An active meter with this event name exists.', { param: 'event_name' })
  }),
  listRoute('/v1/billing/meters', 'meters', { status: Text }),
  route('POST /v1/billing/meters/:id/deactivate', Nothing, ({ world, id }) =>
    setStatus(world, id, 'inactive'),
  ),
  route('POST /v1/billing/meters/:id/reactivate', Nothing, ({ world, id }) =>
    setStatus(world, id, 'active'),
  ),
  route('GET /v1/billing/meters/:id', Nothing, ({ world, id }) => getRow(world, 'meters', id)),
  route('GET /v1/billing/meters/:id/event_summaries', SummaryParams, ({ world, params, id }) => {
    const meter = getRow(world, 'meters', id)
    const { customer, start_time, end_time } = params
    getRow(world, 'customers', customer, 'customer')
    requireWholeMinutes({ start_time, end_time })
    const summary: Stripe.Billing.MeterEventSummary = {
      id: newId('mtrusg_test', 16),
      object: 'billing.meter_event_summary',
      aggregated_value: usageOf(world, meter, { customer, start: start_time, end: end_time }),
      end_time,
      livemode: false,
      meter: meter.id,
      start_time,
    }
    return toList(`/v1/billing/meters/${id}/event_summaries`, [summary])
  }),
]

function setStatus(world: World, id: string, status: 'active' | 'inactive') {
  return changeRow(world, getRow(world, 'meters', id), { status }, 'billing.meter.updated')
}

function activeMeters(world: World): Stripe.Billing.Meter[] {
  return rowsOf(world, 'meters').filter(({ status }) => status === 'active')
}

/** The sum of the customer's meter events from `start` until before `end`. */
export function usageOf(
  world: World,
  meter: Stripe.Billing.Meter,
  { customer, start, end }: { customer: string; start: number; end: number },
): number {
  return [...world.state.meterEvents.values()]
    .filter((reading) => reading.eventName === meter.event_name && reading.customer === customer)
    .filter(({ timestamp }) => timestamp >= start && timestamp < end)
    .reduce((sum, { value }) => sum + value, 0)
}

export function addMeter(world: World, name: string, eventName: string): Stripe.Billing.Meter {
  const meter = newObject<Stripe.Billing.Meter>(world, {
    id: newId('mtr_test', 16),
    object: 'billing.meter',
    customer_mapping: { event_payload_key: 'stripe_customer_id', type: 'by_id' },
    default_aggregation: { formula: 'sum' },
    display_name: name,
    event_name: eventName,
    status: 'active',
    value_settings: { event_payload_key: 'value' },
  })
  return addRow(world, 'meters', meter, 'billing.meter.created')
}

function requireWholeMinutes(times: Readonly<Record<string, number>>): void {
  for (const [param, time] of Object.entries(times)) {
    if (time % 60 === 0) continue
    throw badRequest(`The ${param} must be aligned with minute boundaries.`, { param })
  }
}

const CreateParams = withOptional(
  { event_name: Text, payload: v.record(v.string(), Text) },
  {
    identifier: v.pipe(Text, v.maxLength(100, 'must be at most 100 characters')),
    timestamp: Integer,
  },
)

const MAX_AGE_SECONDS = 35 * 86_400
const MAX_AHEAD_SECONDS = 300
const MAX_DIGITS = 15

export const meterEventRoutes: readonly Route[] = [
  route('POST /v1/billing/meter_events', CreateParams, ({ world, params }) => {
    const { event_name, payload, identifier = newId('mev'), timestamp = world.now() } = params
    const reading = readPayload(world, params)
    requireFresh(timestamp, world.now())
    if (world.state.meterEvents.has(identifier)) {
      throw badRequest(`An event already exists with identifier ${identifier}.`)
    }
    world.state.meterEvents.set(identifier, { ...reading, eventName: event_name, timestamp })
    return {
      object: 'billing.meter_event',
      created: world.now(),
      event_name,
      identifier,
      livemode: false,
      payload,
      timestamp,
    } satisfies Stripe.Billing.MeterEvent
  }),
]

function readPayload(world: World, { event_name, payload }: v.InferOutput<typeof CreateParams>) {
  if (!activeMeters(world).some((row) => row.event_name === event_name)) {
    throw badRequest(`No active meter found for event name ${event_name}.`, { param: 'event_name' })
  }
  const customer = payload['stripe_customer_id'] ?? ''
  if (!world.state.tables.customers.has(customer)) {
    throw badRequest(`Customer not found: '${customer}'`, {
      code: 'resource_missing',
      param: 'payload',
    })
  }
  return { customer, value: readValue(payload['value']) }
}

function readValue(text = ''): number {
  if (!/^-?\d+(\.\d+)?$/.test(text)) {
    throw badRequest(`Invalid meter event value: '${text}'`, { param: 'payload' })
  }
  if (text.replace(/\D/g, '').length > MAX_DIGITS) {
    const code = 'meter_event_value_too_many_digits'
    throw badRequest('The value has too many digits', { code, param: 'payload' })
  }
  return Number(text)
}

function requireFresh(timestamp: number, now: number): void {
  if (timestamp > now + MAX_AHEAD_SECONDS) {
    throw badRequest('The timestamp must be at most 5 minutes in the future.', {
      code: 'timestamp_in_future',
      param: 'timestamp',
    })
  }
  if (timestamp >= now - MAX_AGE_SECONDS) return
  throw badRequest('The timestamp must be within the past 35 days.', {
    code: 'timestamp_too_far_in_past',
    param: 'timestamp',
  })
}
