import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { runDue } from './billing/due.ts'
import { createClock } from './clock.ts'
import type { DoubleOptions, StripeDouble } from './double.ts'
import { createApi } from './http/api.ts'
import { createApiFaults } from './http/api-faults.ts'
import type { ApiCall } from './http/call.ts'
import { createControl } from './http/control.ts'
import { createPages } from './pages/pages.ts'
import { completeCheckout } from './resources/complete-checkout.ts'
import { addEndpoint } from './resources/webhook-endpoints.ts'
import { createState } from './state.ts'
import { createDeliveries } from './webhooks/deliveries.ts'
import { emit, type World } from './world.ts'

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
