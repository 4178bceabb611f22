import { appendFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import Stripe from 'stripe'
import type { DoubleOptions } from '../../stripe-double/double.ts'
import { newSecretKey, newSigningSecret } from '../../stripe-double/ids.ts'
import { seedPlans } from '../../stripe-double/plans.ts'
import { startStripeDouble } from '../../stripe-double/start-double.ts'
import { startLoopbackServer } from '../support/loopback-server.ts'

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

/** Starts a double with two plans, an SDK client for it, and an endpoint that receives its events. */
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
  return new Stripe(key, { ...at, maxNetworkRetries: 0, telemetry: false, timeout: 60_000 })
}

/** Adds a customer with the card of a test token. The default card pays. */
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
  const waiting: ((request: Received) => void)[] = []
  const loopback = await startLoopbackServer(async (request, response) => {
    const body = await text(request)
    const arrived = { body, signature: String(request.headers['stripe-signature']) }
    received.push(arrived)
    waiting.shift()?.(arrived)
    response.writeHead(statuses.shift() ?? 200).end()
  })
  return {
    received,
    /** The statuses of the next answers. Later answers have status 200. */
    statuses,
    url: `${loopback.origin}/hook`,
    /** Resolves with the next request. */
    nextRequest: () => new Promise<Received>((resolve) => waiting.push(resolve)),
    [Symbol.asyncDispose]: () => loopback[Symbol.asyncDispose](),
  }
}

/** Appends the calls to a file for tests/billing/stripe-mock.outside.ts, which sets its name. */
export function recordCalls(calls: readonly object[]): void {
  const file = process.env['STRIPE_CALLS_FILE']
  if (file === undefined) return
  appendFileSync(file, calls.map((call) => `${JSON.stringify(call)}\n`).join(''))
}
