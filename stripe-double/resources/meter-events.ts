import * as v from 'valibot'
import { Text, withOptional } from '../http/params.ts'
import { type Route, route } from '../http/route.ts'
import { StripeDoubleError } from '../http/stripe-error.ts'
import { newId } from '../ids.ts'
import { rowsOf, type World } from '../world.ts'

const CreateParams = withOptional(
  { event_name: Text, payload: v.record(v.string(), Text) },
  {
    identifier: v.pipe(Text, v.maxLength(100, 'must be at most 100 characters')),
    timestamp: v.pipe(Text, v.isoTimestamp('Invalid timestamp')),
  },
)

type CreateParams = v.InferOutput<typeof CreateParams>

const MAX_AGE_SECONDS = 35 * 86_400
const MAX_AHEAD_SECONDS = 300
/** Events "are validated synchronously, but are processed asynchronously". Test clocks stand still for it. */
const PROCESSING_SECONDS = 30

/** An event is checked when it is made, but for its customer: no error of this call is about that. */
export const meterEventRoutes: readonly Route[] = [
  route('POST /v2/billing/meter_events', CreateParams, ({ world, params }) => {
    const now = world.now()
    const { event_name, payload, identifier = newId('mev'), timestamp } = params
    const at = timestamp === undefined ? now : Math.floor(Date.parse(timestamp) / 1000)
    requireMeter(world, event_name)
    const reading = readPayload(payload)
    requireFresh(at, now)
    const { meterEvents } = world.state
    if (meterEvents.has(identifier)) {
      throw refusal(
        'duplicate_meter_event',
        `An event already exists with identifier ${identifier}.`,
      )
    }
    const isOnClock = Boolean(world.state.tables.customers.get(reading.customer)?.test_clock)
    const countedFrom = isOnClock ? now : now + PROCESSING_SECONDS
    meterEvents.set(identifier, { ...reading, eventName: event_name, timestamp: at, countedFrom })
    return {
      object: 'v2.billing.meter_event',
      created: toTime(now),
      event_name,
      identifier,
      livemode: false,
      payload,
      timestamp: toTime(at),
    }
  }),
]

function requireMeter(world: World, name: string): void {
  const meters = rowsOf(world, 'meters').filter(({ event_name }) => event_name === name)
  if (meters.some(({ status }) => status === 'active')) return
  throw meters.length === 0
    ? refusal('no_meter', `No meter found for event name ${name}.`)
    : refusal('archived_meter', `The meter for event name ${name} is archived.`)
}

function readPayload({ stripe_customer_id: customer, value }: CreateParams['payload']) {
  if (!customer) throw refusal('payload_no_customer_defined', 'No customer')
  if (value === undefined) throw refusal('payload_no_value_defined', 'No value')
  if (/^-?\d+(\.\d+)?$/.test(value)) return { customer, value: Number(value) }
  throw refusal('payload_invalid_value', `Invalid meter event value: '${value}'`)
}

function requireFresh(at: number, now: number): void {
  if (at >= now - MAX_AGE_SECONDS && at <= now + MAX_AHEAD_SECONDS) return
  const message = 'The timestamp must be within the past 35 days or the next 5 minutes.'
  throw refusal('invalid_fields', message)
}

/** Errors of version 2 have a code instead of a type. */
function refusal(code: string, message: string) {
  return new StripeDoubleError({ status: 400, code, message })
}

function toTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}
