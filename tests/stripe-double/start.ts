import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import Stripe from 'stripe'
import type { DoubleOptions } from '../../stripe-double/double.ts'
import { newSecretKey, newSigningSecret } from '../../stripe-double/ids.ts'
import { seedPlans } from '../../stripe-double/plans.ts'
import { startStripeDouble } from '../../stripe-double/start-double.ts'

export const NOW = Date.UTC(2026, 0, 15, 12)
export const DAY = 86_400

const PLANS = [
  { id: 'starter', name: 'Starter', price: 9 },
  { id: 'pro', name: 'Pro', price: 29 },
]

export interface Received {
  readonly body: string
  readonly signature: string
}

/** A double with our plans, the SDK pointed at it, and an endpoint that takes its events. */
export async function startDouble(options: DoubleOptions = {}) {
  const double = await startStripeDouble({
    realNow: () => NOW,
    retryDelaysMs: [0, 0],
    ...options,
  })
  const { plans, overage } = seedPlans(double.world, PLANS)
  const endpoint = await startEndpoint()
  const secrets = [newSigningSecret(), newSigningSecret()]
  double.addWebhook(endpoint.url, secrets)
  return {
    double,
    stripe: sdkFor(double.port),
    starter: plans.get('starter') ?? '',
    pro: plans.get('pro') ?? '',
    overage,
    secrets,
    ...endpoint,
    async [Symbol.asyncDispose]() {
      recordCalls(double.calls())
      await double[Symbol.asyncDispose]()
      await endpoint[Symbol.asyncDispose]()
    },
  }
}

export function sdkFor(port: number, key = newSecretKey()): Stripe {
  const at = { host: '127.0.0.1', port, protocol: 'http' } as const
  return new Stripe(key, { ...at, maxNetworkRetries: 0, telemetry: false, timeout: 5_000 })
}

/** A customer whose card pays, or another card of Stripe's test tokens. */
export async function addPayer(stripe: Stripe, card = 'pm_card_visa') {
  const { id } = await stripe.customers.create({ email: 'ada@example.com' })
  const method = await stripe.paymentMethods.attach(card, { customer: id })
  await stripe.customers.update(id, { invoice_settings: { default_payment_method: method.id } })
  return id
}

/** The types of the events so far, oldest first. */
export function typesOf(received: readonly Received[]): string[] {
  return received.map(({ body }) => JSON.parse(body).type)
}

async function startEndpoint() {
  const received: Received[] = []
  const statuses: number[] = []
  const waiting: ((came: Received) => void)[] = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const came = { body, signature: String(request.headers['stripe-signature']) }
    received.push(came)
    waiting.shift()?.(came)
    response.writeHead(statuses.shift() ?? 200).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // safe: a server that listens on a port has an AddressInfo
  const { port } = server.address() as AddressInfo
  return {
    received,
    /** Answers of the next requests; 200 after them. */
    statuses,
    url: `http://127.0.0.1:${port}/hook`,
    /** The next request. */
    arrival: () => new Promise<Received>((resolve) => waiting.push(resolve)),
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** For the comparison with stripe-mock: tests/oracle/stripe-mock.test.ts. */
export function recordCalls(calls: readonly object[]): void {
  const file = process.env['STRIPE_CALLS_FILE']
  if (file === undefined) return
  appendFileSync(file, calls.map((call) => `${JSON.stringify(call)}\n`).join(''))
}
