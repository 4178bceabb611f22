import assert from 'node:assert/strict'
import * as v from 'valibot'
import { ApiKeyCreated } from '../../lib/contract/account/account-schemas.ts'
import { CheckoutResponse } from '../../lib/contract/billing/billing-schemas.ts'
import type { StripeDouble } from '../../stripe-double/double.ts'
import { newSecretKey, newSigningSecret } from '../../stripe-double/ids.ts'
import { seedPlans } from '../../stripe-double/plans.ts'
import { startStripeDouble } from '../../stripe-double/start-double.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { widePlansFile } from '../support/plans-file.ts'
import { newDataFolder, startServer } from '../support/process.ts'

/** Enough users that the limits per user stop none of them. */
const KEY_OWNERS = 25
const KEYS_EACH = 5
const SIGNED_IN = 40

/** A server with generous plans and a Stripe double; its users have all scopes. */
export interface Service {
  readonly url: string
  /** The secret keys of each owner, by id. */
  readonly keys: readonly Readonly<Record<string, string>>[]
  /** A key of the first owner with the scope geo:read only. */
  readonly reader: string
  /** Session tokens of other users, one for each. */
  readonly sessions: readonly string[]
  stop(): Promise<void>
}

/** Starts the service, which trusts X-Forwarded-For from this machine. */
export async function startService(): Promise<Service> {
  const { settings, remove } = newDataFolder()
  const file = widePlansFile(PRICES)
  const double = await startStripeDouble()
  const dns = await startDnsServer()
  const secret = newSigningSecret()
  const server = await startServer({
    ...settings,
    ...sellingSettings(double, secret),
    MERIDIAN_PLANS: file,
    MERIDIAN_CONTACT: 'store',
    MERIDIAN_TRUSTED_PROXIES: '127.0.0.1/32',
    MERIDIAN_DNS_SERVERS: dns.address,
    MERIDIAN_LOG_LEVEL: 'warn',
  })
  double.addWebhook(`${server.url}/v1/billing/webhook`, [secret])
  const callers = await populate(server.url, double)
  const stop = async () => {
    await server.stop('SIGTERM')
    await double[Symbol.asyncDispose]()
    await dns[Symbol.asyncDispose]()
    remove()
  }
  return { url: server.url, ...callers, stop }
}

const PRICES = { free: 0, starter: 9, pro: 29 }

function sellingSettings({ url, world }: StripeDouble, secret: string) {
  const sold = Object.entries(PRICES).map(([id, price]) => ({ id, name: id, price }))
  const { plans, overage } = seedPlans(world, sold)
  return {
    STRIPE_SECRET_KEY: newSecretKey(),
    STRIPE_WEBHOOK_SECRET: secret,
    STRIPE_API_BASE: url,
    STRIPE_PRICE_STARTER: plans.get('starter') ?? '',
    STRIPE_PRICE_PRO: plans.get('pro') ?? '',
    STRIPE_PRICE_OVERAGE: overage,
  }
}

/** Signs users up. Every second one has a subscription. */
async function populate(
  url: string,
  double: StripeDouble,
): Promise<Pick<Service, 'keys' | 'reader' | 'sessions'>> {
  const tokens: string[] = []
  for (let user = 0; user < KEY_OWNERS + SIGNED_IN; user++) {
    const token = await signUp(url, user)
    tokens.push(token)
    if (user % 2 === 0) await buy(url, double, { authorization: `Bearer ${token}` })
  }
  const keys: Record<string, string>[] = []
  for (const token of tokens.slice(0, KEY_OWNERS)) {
    const own: Record<string, string> = {}
    for (let n = 0; n < KEYS_EACH; n++) {
      const key = await createKey(url, `Bearer ${token}`, { name: `key ${n}` })
      own[key.id] = key.rawKey
    }
    keys.push(own)
  }
  const authorization = `Bearer ${tokens[0]}`
  const reader = await createKey(url, authorization, { name: 'reader', scopes: ['geo:read'] })
  // The site that the examples of the OpenAPI document use. It belongs to a user whom no request names,
  // so that none deletes it.
  const owner = await signUp(url, KEY_OWNERS + SIGNED_IN)
  for (const token of [owner, tokens[0]]) {
    const headers = { authorization: `Bearer ${token}` }
    await post(`${url}/v1/account/me/sites`, { name: 'https://shop.example' }, headers)
  }
  return { keys, reader: reader.rawKey, sessions: tokens.slice(KEY_OWNERS) }
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
