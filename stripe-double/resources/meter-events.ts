import type Stripe from 'stripe'
import * as v from 'valibot'
import { refreshDrafts } from '../billing/settle-invoice.ts'
import { Integer, Text, withOptional } from '../http/params.ts'
import { type Route, route } from '../http/route.ts'
import { badRequest } from '../http/stripe-error.ts'
import { newId } from '../ids.ts'
import type { World } from '../world.ts'
import { activeMeters } from './meters.ts'

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
    refreshDrafts(world, reading.customer)
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
