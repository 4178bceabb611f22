import { Hono } from 'hono'
import * as v from 'valibot'
import type { StripeDouble } from '../double.ts'
import { CheckoutEntry } from '../resources/checkout/complete-checkout.ts'
import { DUNNING } from '../state.ts'
import { DeliverySwitch } from '../webhooks/delivery-switches.ts'
import { ApiFault } from './api-faults.ts'
import { StripeDoubleError } from './stripe-error.ts'

const Count = v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 1)

const Advance = v.strictObject({ advanceSeconds: v.pipe(v.number(), v.minValue(0)) })

const Switch = v.strictObject({ deliveries: DeliverySwitch, count: Count })

const Fail = v.strictObject({ fault: ApiFault, count: Count })

const Dunning = v.strictObject({
  end: v.optional(v.picklist(['canceled', 'unpaid']), DUNNING.end),
  retryDays: v.optional(v.pipe(v.array(v.number()), v.maxLength(8)), [...DUNNING.retryDays]),
})

const Emitted = v.strictObject({ type: v.string(), object: v.record(v.string(), v.unknown()) })

/** Serves `/_double/...`, which controls the double. */
export function createControl(double: StripeDouble) {
  const control = new Hono()
  const post = <Schema extends v.GenericSchema>(
    path: string,
    schema: Schema,
    act: (body: v.InferOutput<Schema>, id: string) => object,
  ) =>
    control.post(path, async ({ req, json }) =>
      json(act(v.parse(schema, await req.json()), req.param('id') ?? '')),
    )
  control.onError((error, context) => {
    if (v.isValiError(error)) return context.json({ error: error.message }, 400)
    if (error instanceof StripeDoubleError) return context.json(error.body, 400)
    if (error instanceof SyntaxError) return context.json({ error: 'The body is not JSON' }, 400)
    throw error
  })
  control.get('/clock', ({ json }) => json({ now: double.now() }))
  control.get('/deliveries', ({ json }) => json(double.deliveries()))
  post('/clock', Advance, ({ advanceSeconds }) => {
    double.advance(advanceSeconds)
    return { now: double.now() }
  })
  post('/switches', Switch, (body) => {
    double.switchDeliveries(body.deliveries, body.count)
    return body
  })
  post('/faults', Fail, (body) => {
    double.failCalls(body.fault, body.count)
    return body
  })
  post('/events', Emitted, ({ type, object }) => {
    double.emit(type, object)
    return { type }
  })
  post('/dunning', Dunning, (policy) => {
    double.setDunning(policy)
    return policy
  })
  post('/checkout/:id/pay', CheckoutEntry, (entry, id) => double.payCheckout(id, entry))
  return control
}
