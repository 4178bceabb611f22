import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import type Stripe from 'stripe'
import { runDue } from './billing/due.ts'
import { createClock } from './clock.ts'
import { type ApiCall, createApi } from './http/api.ts'
import { type ApiFault, createApiFaults } from './http/api-faults.ts'
import { createControl } from './http/control.ts'
import { createPages } from './pages/pages.ts'
import { type CheckoutEntry, completeCheckout } from './resources/complete-checkout.ts'
import { addEndpoint } from './resources/webhook-endpoints.ts'
import { createState } from './state.ts'
import { createDeliveries, type Delivery } from './webhooks/deliveries.ts'
import type { DeliverySwitch } from './webhooks/delivery-switches.ts'
import { emit, type World } from './world.ts'

export interface DoubleOptions {
  /** 0: any that is free. */
  readonly port?: number
  /** Real time in milliseconds since 1970; the clock of the double begins there. */
  readonly realNow?: () => number
  readonly retryDelaysMs?: readonly number[]
}

/** A Stripe of one's own on loopback. */
export interface StripeDouble extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly world: World
  /** Seconds since 1970 by the clock of the double. */
  now(): number
  /** Lets time pass: renewals, ends and retries happen in order, each at its moment. */
  advance(seconds: number): void
  /** Sends events to `url`, signed by each of `secrets`. */
  addWebhook(url: string, secrets: readonly string[]): void
  /** Sends an event that the double would not make by itself, such as `charge.refunded`. */
  emit(type: string, object: object): void
  deliveries(): readonly Delivery[]
  /** What happens to the next `count` deliveries. */
  switchDeliveries(kind: DeliverySwitch, count?: number): void
  /** Resolves when every delivery has been answered or given up. */
  settled(): Promise<void>
  /** What happens to the next `count` calls of the API. */
  failCalls(fault: ApiFault, count?: number): void
  clearFaults(): void
  /** Pays a checkout session, hosted or embedded, as its customer would in a browser. */
  payCheckout(id: string, entry: CheckoutEntry): Stripe.Checkout.Session
  /** Every call that was answered, in order. */
  calls(): readonly ApiCall[]
}

const RETRY_DELAYS_MS = [500, 2_000, 10_000]
const HOST = '127.0.0.1'

export async function startStripeDouble({
  port = 0,
  realNow = Date.now,
  retryDelaysMs = RETRY_DELAYS_MS,
}: DoubleOptions = {}): Promise<StripeDouble> {
  const state = createState()
  const clock = createClock(realNow)
  const deliveries = createDeliveries(state, { retryDelaysMs, realNow })
  const faults = createApiFaults()
  const calls: ApiCall[] = []
  const app = new Hono<{ Bindings: HttpBindings }>()
  const server = createServer(getRequestListener(app.fetch))
  server.listen(port, HOST)
  await once(server, 'listening')
  // safe: a server that listens on a port has an AddressInfo
  const listening = (server.address() as AddressInfo).port
  const url = `http://${HOST}:${listening}`
  const world: World = { state, baseUrl: url, now: clock.now, deliver: deliveries.send }
  const tick = () => runDue(world, clock, clock.now())
  const double: StripeDouble = {
    url,
    port: listening,
    world,
    now: clock.now,
    advance(seconds) {
      runDue(world, clock, clock.now() + seconds)
      clock.advance(seconds)
    },
    addWebhook(endpoint, secrets) {
      addEndpoint(world, { url: endpoint, enabled_events: ['*'] }, secrets)
    },
    emit: (type, object) => emit(world, type, object),
    deliveries: deliveries.list,
    switchDeliveries: (kind, count = 1) => deliveries.switchNext(kind, count),
    settled: deliveries.settled,
    failCalls: (fault, count = 1) => faults.failNext(fault, count),
    clearFaults: faults.clear,
    payCheckout(id, entry) {
      tick()
      return completeCheckout(world, id, entry)
    },
    calls: () => calls,
    async [Symbol.asyncDispose]() {
      await deliveries[Symbol.asyncDispose]()
      server.close()
      server.closeAllConnections()
    },
  }
  app.route(
    '/_double',
    createControl(() => double),
  )
  app.route('/', createPages(world, tick))
  app.route('/', createApi({ world, faults, tick, onCall: (call) => calls.push(call) }))
  return double
}
