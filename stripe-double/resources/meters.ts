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

const MeterParams = v.strictObject({
  display_name: Text,
  event_name: Text,
  default_aggregation: v.strictObject({ formula: v.literal('sum', 'the double only sums') }),
})

export const meterRoutes: readonly Route[] = [
  route('POST /v1/billing/meters', MeterParams, ({ world, params }) => {
    const { display_name, event_name } = params
    const isUsed = activeMeters(world).some((meter) => meter.event_name === event_name)
    if (!isUsed) return addMeter(world, display_name, event_name)
    throw badRequest('An active meter with this event name exists.', { param: 'event_name' })
  }),
  listRoute('/v1/billing/meters', 'meters', { status: Text }),
  route('POST /v1/billing/meters/:id/deactivate', Nothing, ({ world, id }) =>
    changeRow(world, getRow(world, 'meters', id), { status: 'inactive' }, 'billing.meter.updated'),
  ),
  route('POST /v1/billing/meters/:id/reactivate', Nothing, ({ world, id }) =>
    changeRow(world, getRow(world, 'meters', id), { status: 'active' }, 'billing.meter.updated'),
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

function activeMeters(world: World): Stripe.Billing.Meter[] {
  return rowsOf(world, 'meters').filter(({ status }) => status === 'active')
}

/** The sum of the customer's meter events from `start` until before `end` that are processed. */
export function usageOf(
  world: World,
  meter: Stripe.Billing.Meter,
  { customer, start, end }: { customer: string; start: number; end: number },
): number {
  return [...world.state.meterEvents.values()]
    .filter((reading) => reading.eventName === meter.event_name && reading.customer === customer)
    .filter(({ timestamp }) => timestamp >= start && timestamp < end)
    .filter(({ countedFrom }) => countedFrom <= world.now())
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
    status_transitions: { deactivated_at: null },
    updated: world.now(),
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
