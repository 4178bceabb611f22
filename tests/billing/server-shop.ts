import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type Stripe from 'stripe'
import { findFreePort } from '../../scripts/parts/start-process.ts'
import type { StripeDouble } from '../../stripe-double/double.ts'
import { newSecretKey, newSigningSecret } from '../../stripe-double/ids.ts'
import { seedPlans } from '../../stripe-double/plans.ts'
import { startStripeDouble } from '../../stripe-double/start-double.ts'
import { sdkFor } from '../stripe-double/start.ts'
import type { Answer } from '../support/contract-check.ts'
import { checkAnswer } from '../support/contract-check.ts'
import {
  newDataFolder,
  type Running,
  runScript,
  type Settings,
  startServer,
} from '../support/process.ts'

export const SUBSCRIPTION = '/v1/billing/subscription'

/** Requests per period that each plan includes. */
export const CAP = 5

/** Dollars per month. */
export interface Prices {
  readonly starter: number
  readonly pro: number
}

/**
 * A Stripe double, and real servers on one database that sell plans through it. They can be killed.
 */
export interface ServerShop extends AsyncDisposable {
  readonly double: StripeDouble
  readonly stripe: Stripe
  readonly dataDir: string
  /** Of the servers, for commands beside them. */
  readonly settings: Settings
  readonly prices: { readonly starter: string; readonly pro: string }
  readonly secretKey: string
  readonly signingSecret: string
  /** Makes a user. Returns the key. */
  addUser(email: string): Promise<string>
  /** Starts a server on the same data and always on the same port. */
  start(settings?: Settings): Promise<Running>
}

export async function openServerShop(dollars: Prices): Promise<ServerShop> {
  const { dataDir, settings: folder, remove } = newDataFolder()
  const double = await startStripeDouble()
  const plans = planRows(dollars)
  const file = join(dataDir, 'plans.json')
  writeFileSync(file, JSON.stringify(plans))
  const seeded = seedPlans(double.world, plans)
  const prices = {
    starter: seeded.plans.get('starter') ?? '',
    pro: seeded.plans.get('pro') ?? '',
  }
  const secretKey = newSecretKey()
  const signingSecret = newSigningSecret()
  const own = {
    ...folder,
    MERIDIAN_PLANS: file,
    STRIPE_SECRET_KEY: secretKey,
    STRIPE_WEBHOOK_SECRET: signingSecret,
    STRIPE_API_BASE: double.url,
    STRIPE_PRICE_STARTER: prices.starter,
    STRIPE_PRICE_PRO: prices.pro,
    STRIPE_PRICE_OVERAGE: seeded.overage,
  }
  const running = new Set<Running>()
  const PORT = String(await findFreePort())
  return {
    double,
    stripe: sdkFor(double.port),
    dataDir,
    settings: own,
    prices,
    secretKey,
    signingSecret,
    addUser: async (email) => {
      const args = ['--email', email, '--name', 'first', '--plan', 'free', '--scopes', 'all']
      const made = await runScript(['scripts/key.ts', ...args], own)
      assert.equal(made.code, 0, made.stderr)
      return made.stdout.trim()
    },
    start: async (settings = {}) => {
      const server = await startServer({ ...own, PORT, ...settings })
      running.add(server)
      return server
    },
    async [Symbol.asyncDispose]() {
      for (const server of running) await server.stop('SIGKILL')
      await double[Symbol.asyncDispose]()
      remove()
    },
  }
}

function planRows({ starter, pro }: Prices) {
  const rest = { monthlyCap: CAP, maxKeys: 10, maxSites: 10, requestsPerMinute: 1_000_000 }
  return [
    { id: 'free', name: 'Free', price: 0, ...rest },
    { id: 'starter', name: 'Starter', price: starter, ...rest },
    { id: 'pro', name: 'Pro', price: pro, ...rest },
  ]
}

export interface Sent {
  readonly method: string
  readonly path: string
  readonly body?: object
}

/** Sends a request with the key and checks the answer against the contract. */
export async function ask(
  { url }: Pick<Running, 'url'>,
  key: string,
  { method, path, body }: Sent,
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { 'x-api-key': key },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const { status, headers } = response
  const text = await response.text()
  const answer = { status, headers, text, body: text === '' ? undefined : JSON.parse(text) }
  checkAnswer(method, new URL(response.url).pathname, answer)
  return answer
}

/** Waits until `holds` returns true, for at most a minute. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 60_000; !(await holds()); await sleep(20)) {
    assert.ok(performance.now() < end, 'the condition did not become true within a minute')
  }
}

/** Units that the double has received for all users together. */
export function meteredUnits({ double }: Pick<ServerShop, 'double'>): number {
  return [...double.world.state.meterEvents.values()].reduce((sum, { value }) => sum + value, 0)
}
