import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { ApiKeyCreated } from '../../lib/contract/account-schemas.ts'
import { CheckoutResponse } from '../../lib/contract/billing-schemas.ts'
import type { StripeDouble } from '../../stripe-double/double.ts'
import { newSecretKey, newSigningSecret } from '../../stripe-double/ids.ts'
import { seedPlans } from '../../stripe-double/plans.ts'
import { startStripeDouble } from '../../stripe-double/start-double.ts'
import { newDataFolder, startServer } from '../e2e/process.ts'

/** More than the account limit of two minutes' requests asks for. */
const KEYS = 100
const USERS = 40

/** A server whose plans are wide, beside a Stripe double, with users who may do anything. */
export interface Service {
  readonly url: string
  /** Secret keys of one user, by id. */
  readonly keys: Readonly<Record<string, string>>
  /** A key of that user, for look-ups alone. */
  readonly reader: string
  /** Tokens, each of another user. */
  readonly sessions: readonly string[]
  stop(): Promise<void>
}

/** Starts it, behind a proxy on this machine that is trusted to say whom it speaks for. */
export async function startService(): Promise<Service> {
  const { dataDir, settings, remove } = newDataFolder()
  const file = join(dataDir, 'plans.json')
  writeFileSync(file, JSON.stringify(PLANS))
  const double = await startStripeDouble()
  const secret = newSigningSecret()
  const server = await startServer({
    ...settings,
    ...sellingSettings(double, secret),
    MERIDIAN_PLANS: file,
    MERIDIAN_CONTACT: 'store',
    MERIDIAN_TRUSTED_PROXIES: '127.0.0.1/32',
    MERIDIAN_LOG_LEVEL: 'warn',
  })
  double.addWebhook(`${server.url}/v1/billing/webhook`, [secret])
  const people = await populate(server.url, double)
  const stop = async () => {
    await server.stop('SIGTERM')
    await double[Symbol.asyncDispose]()
    remove()
  }
  return { url: server.url, ...people, stop }
}

const PLANS = [
  { id: 'free', name: 'Free', price: 0 },
  { id: 'starter', name: 'Starter', price: 9 },
  { id: 'pro', name: 'Pro', price: 29 },
].map((plan) => ({
  ...plan,
  monthlyCap: 1_000_000_000,
  maxKeys: 100_000,
  maxSites: 100_000,
  requestsPerMinute: 1_000_000,
}))

function sellingSettings({ url, world }: StripeDouble, secret: string) {
  const { plans, overage } = seedPlans(world, PLANS)
  return {
    STRIPE_SECRET_KEY: newSecretKey(),
    STRIPE_WEBHOOK_SECRET: secret,
    STRIPE_API_BASE: url,
    STRIPE_PRICE_STARTER: plans.get('starter') ?? '',
    STRIPE_PRICE_PRO: plans.get('pro') ?? '',
    STRIPE_PRICE_OVERAGE: overage,
  }
}

/** Every other user has a subscription, and with it whoever owns the keys. */
async function populate(
  url: string,
  double: StripeDouble,
): Promise<Pick<Service, 'keys' | 'reader' | 'sessions'>> {
  const sessions: string[] = []
  for (let user = 0; user < USERS; user++) {
    const token = await signUp(url, user)
    sessions.push(token)
    if (user % 2 === 0) await buy(url, double, { authorization: `Bearer ${token}` })
  }
  const [owner = ''] = sessions
  const authorization = `Bearer ${owner}`
  const keys: Record<string, string> = {}
  for (let n = 0; n < KEYS; n++) {
    const key = await createKey(url, authorization, { name: `key ${n}` })
    keys[key.id] = key.rawKey
  }
  const reader = await createKey(url, authorization, { name: 'reader', scopes: ['geo:read'] })
  // The site of the examples of the interface.
  await post(`${url}/v1/account/me/sites`, { name: 'https://shop.example' }, { authorization })
  return { keys, reader: reader.rawKey, sessions }
}

async function buy(
  url: string,
  double: StripeDouble,
  headers: Record<string, string>,
): Promise<void> {
  const opened = await post(`${url}/v1/billing/subscription`, { planId: 'pro' }, headers)
  const { url: page = '' } = v.parse(CheckoutResponse, opened)
  const { sessions } = double.world.state.tables
  const session = [...sessions.values()].find((open) => open.url === page)
  double.payCheckout(session?.id ?? '', { card: 'pm_card_visa' })
  await double.settled()
}

const SignedUp = v.object({ token: v.string() })

async function signUp(url: string, user: number): Promise<string> {
  const email = `user-${user}@example.com`
  const body = { email, password: crypto.randomUUID(), name: 'Ada' }
  // Sign-up is limited by address.
  const headers = { 'x-forwarded-for': `192.0.2.${user}` }
  return v.parse(SignedUp, await post(`${url}/api/auth/sign-up/email`, body, headers)).token
}

async function createKey(url: string, authorization: string, body: object): Promise<ApiKeyCreated> {
  const answer = await post(`${url}/v1/account/me/keys`, body, { authorization })
  return v.parse(ApiKeyCreated, answer)
}

async function post(url: string, body: object, headers: Record<string, string>): Promise<unknown> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  assert.ok(answer.ok, `${url} answered ${answer.status}`)
  return answer.json()
}
