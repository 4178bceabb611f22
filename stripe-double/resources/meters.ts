import type Stripe from 'stripe'
import * as v from 'valibot'
import { listPage, toList } from '../http/list.ts'
import { Integer, Page, Text } from '../http/params.ts'
import { Nothing, type Route, route } from '../http/route.ts'
import { badRequest } from '../http/stripe-error.ts'
import { newId } from '../ids.ts'
import { addRow, changeRow, getRow, type World } from '../world.ts'
import { getCustomer } from './customers.ts'

const CreateParams = v.strictObject({
  display_name: Text,
  event_name: Text,
  default_aggregation: v.strictObject({ formula: v.picklist(['sum', 'count', 'last']) }),
  customer_mapping: v.optional(
    v.strictObject({ type: v.literal('by_id'), event_payload_key: Text }),
  ),
  value_settings: v.optional(v.strictObject({ event_payload_key: Text })),
})

const SummaryParams = v.strictObject({
  ...Page,
  customer: Text,
  start_time: Integer,
  end_time: Integer,
  value_grouping_window: v.optional(v.picklist(['hour', 'day'])),
})

const WINDOW_SECONDS = { hour: 3_600, day: 86_400 }

export const meterRoutes: readonly Route[] = [
  route('POST /v1/billing/meters', CreateParams, ({ world, params }) => addMeter(world, params)),
  route('GET /v1/billing/meters', v.strictObject(Page), ({ world, params }) =>
    listPage('/v1/billing/meters', world.state.tables.meters.values(), params),
  ),
  route('GET /v1/billing/meters/:id', Nothing, ({ world, id }) => getMeter(world, id)),
  route('POST /v1/billing/meters/:id', v.strictObject({ display_name: Text }), (call) => {
    const row = getMeter(call.world, call.id)
    const changes = { display_name: call.params.display_name }
    const { meters } = call.world.state.tables
    return changeRow(call.world, meters, { row, changes }, 'billing.meter.updated')
  }),
  route('GET /v1/billing/meters/:id/event_summaries', SummaryParams, ({ world, params, id }) => {
    const meter = getMeter(world, id)
    getCustomer(world, params.customer, 'customer')
    requireWholeMinutes(params)
    return toList(`/v1/billing/meters/${id}/event_summaries`, summaries(world, meter, params))
  }),
]

/** What the customer used from `start` up to `end`, by the formula of the meter. */
export function usageOf(
  world: World,
  meter: Stripe.Billing.Meter,
  { customer, start, end }: { customer: string; start: number; end: number },
): number {
  const values = [...world.state.meterEvents.values()]
    .filter((reading) => reading.eventName === meter.event_name && reading.customer === customer)
    .filter(({ timestamp }) => timestamp >= start && timestamp < end)
    .map(({ value }) => value)
  switch (meter.default_aggregation.formula) {
    case 'count':
      return values.length
    case 'last':
      return values.at(-1) ?? 0
    default:
      return values.reduce((sum, value) => sum + value, 0)
  }
}

export function addMeter(
  world: World,
  params: v.InferOutput<typeof CreateParams>,
): Stripe.Billing.Meter {
  const { customer_mapping, value_settings } = params
  const meter: Stripe.Billing.Meter = {
    id: newId('mtr_test', 16),
    object: 'billing.meter',
    created: world.now(),
    customer_mapping: customer_mapping ?? {
      type: 'by_id',
      event_payload_key: 'stripe_customer_id',
    },
    default_aggregation: params.default_aggregation,
    display_name: params.display_name,
    event_name: params.event_name,
    event_time_window: null,
    livemode: false,
    status: 'active',
    status_transitions: { deactivated_at: null },
    updated: world.now(),
    value_settings: value_settings ?? { event_payload_key: 'value' },
  }
  return addRow(world, world.state.tables.meters, meter, 'billing.meter.created')
}

function getMeter(world: World, id: string): Stripe.Billing.Meter {
  return getRow(world.state.tables.meters, id, 'meter')
}

function requireWholeMinutes({ start_time, end_time }: v.InferOutput<typeof SummaryParams>): void {
  for (const [param, time] of Object.entries({ start_time, end_time })) {
    if (time % 60 === 0) continue
    throw badRequest(`The ${param} must be aligned with minute boundaries.`, { param })
  }
}

function summaries(
  world: World,
  meter: Stripe.Billing.Meter,
  params: v.InferOutput<typeof SummaryParams>,
): Stripe.Billing.MeterEventSummary[] {
  const { customer, start_time, end_time, value_grouping_window } = params
  const step =
    value_grouping_window === undefined
      ? end_time - start_time
      : WINDOW_SECONDS[value_grouping_window]
  const found: Stripe.Billing.MeterEventSummary[] = []
  for (let start = start_time; start < end_time; start += step) {
    const end = start + step
    found.push({
      id: newId('mtrusg_test', 16),
      object: 'billing.meter_event_summary',
      aggregated_value: usageOf(world, meter, { customer, start, end }),
      end_time: end,
      livemode: false,
      meter: meter.id,
      start_time: start,
    })
  }
  return found
}
