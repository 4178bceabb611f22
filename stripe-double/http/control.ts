import { Hono } from 'hono'
import * as v from 'valibot'
import type { StripeDouble } from '../double.ts'
import { DeliverySwitch } from '../webhooks/delivery-switches.ts'
import { ApiFault } from './api-faults.ts'
import { StripeDoubleError } from './stripe-error.ts'

const Count = v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 1)

const Advance = v.strictObject({ advanceSeconds: v.pipe(v.number(), v.minValue(0)) })

const Switch = v.strictObject({ deliveries: DeliverySwitch, count: Count })

const Fail = v.strictObject({ fault: ApiFault, count: Count })

const Made = v.strictObject({ type: v.string(), object: v.record(v.string(), v.unknown()) })

const Entry = v.strictObject({
  card: v.string(),
  promotionCode: v.exactOptional(v.string()),
  name: v.exactOptional(v.string()),
  taxId: v.exactOptional(v.strictObject({ type: v.string(), value: v.string() })),
})

/** `/_double/...`: what is not Stripe's. */
export function createControl(double: () => StripeDouble) {
  const control = new Hono()
  control.onError((error, context) => {
    if (v.isValiError(error)) return context.json({ error: error.message }, 400)
    if (error instanceof StripeDoubleError) return context.json(error.body, 400)
    if (error instanceof SyntaxError) return context.json({ error: 'The body is not JSON' }, 400)
    throw error
  })
  control.get('/clock', (context) => context.json({ now: double().now() }))
  control.post('/clock', async (context) => {
    const { advanceSeconds } = v.parse(Advance, await context.req.json())
    double().advance(advanceSeconds)
    return context.json({ now: double().now() })
  })
  control.post('/switches', async (context) => {
    const { deliveries, count } = v.parse(Switch, await context.req.json())
    double().switchDeliveries(deliveries, count)
    return context.json({ deliveries, count })
  })
  control.post('/faults', async (context) => {
    const { fault, count } = v.parse(Fail, await context.req.json())
    double().failCalls(fault, count)
    return context.json({ fault, count })
  })
  control.post('/events', async (context) => {
    const { type, object } = v.parse(Made, await context.req.json())
    double().emit(type, object)
    return context.json({ type })
  })
  control.get('/deliveries', (context) => context.json(double().deliveries()))
  control.post('/checkout/:id/pay', async (context) => {
    const entry = v.parse(Entry, await context.req.json())
    return context.json(double().payCheckout(context.req.param('id'), entry))
  })
  return control
}
