import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { mintKey } from '../../lib/access/api-key.ts'
import { type Operation, SCOPES, type Scope } from '../../lib/contract/operation.ts'
import { operations } from '../../lib/contract/operations.ts'
import { codeOf, freshClient, makeApp, NOON, type SendOptions, type TestApp } from '../helpers.ts'
import { signUp } from '../sign-in.ts'
import { tempFolder } from '../temp-folder.ts'

/*
 * Every kind of credential, with every set of scopes, on every operation of the contract: what may
 * be done is said once here, by rule, and asked of the service cell by cell.
 */

type Refusal = 'UNAUTHORIZED' | 'ANONYMOUS_ACCESS' | 'INSUFFICIENT_SCOPE' | 'ORIGIN_NOT_ALLOWED'

interface Credential {
  readonly name: string
  readonly headers: Readonly<Record<string, string>>
  /** Why it is refused at the operation; null: it is let in. */
  readonly refusal: (row: Operation) => Refusal | null
}

const ORIGIN = 'https://app.example'
const folder = tempFolder()

const WIDE = {
  id: 'free',
  name: 'Wide',
  monthlyCap: 1_000_000_000,
  maxKeys: 100_000,
  maxSites: 100_000,
  price: 0,
  requestsPerMinute: 1_000_000,
}

/** Nobody sells it here. */
const PAID = { ...WIDE, id: 'pro', price: 29 }

const rows: readonly Operation[] = operations

let app: TestApp
let credentials: readonly Credential[]
before(async () => {
  const plans = join(folder, 'plans.json')
  writeFileSync(plans, JSON.stringify([WIDE, PAID]))
  app = await makeApp({ env: { MERIDIAN_PLANS: plans, MERIDIAN_CONTACT: 'store' } })
  credentials = [...noCredentials(), ...(await goodCredentials())]
})
after(() => app.close())

function noCredentials(): Credential[] {
  const unauthorized = () => 'UNAUTHORIZED' as const
  const key = (text: string) => ({ headers: { 'x-api-key': text }, refusal: unauthorized })
  const bearer = (token: string) => ({
    headers: { authorization: `Bearer ${token}` },
    refusal: unauthorized,
  })
  return [
    {
      name: 'nothing',
      headers: {},
      refusal: ({ id }) => (id === 'getCallerTimezone' ? 'ANONYMOUS_ACCESS' : 'UNAUTHORIZED'),
    },
    { name: 'an unknown key', ...key(mintKey('secret').text) },
    { name: 'an unknown publishable key', ...key(mintKey('publishable').text) },
    { name: 'an unknown session', ...bearer('nonsense') },
    { name: 'a key as a bearer', ...bearer(mintKey('secret').text) },
  ]
}

async function goodCredentials(): Promise<Credential[]> {
  const expired = await app.makeKey({ plan: 'free', expiresAt: NOON })
  const token = await signUp(app, 'session@example.com')
  const secrets = [null, ...subsets(SCOPES)].map(async (scopes) => ({
    name: `a secret key of ${scopes === null ? 'everything' : `[${scopes}]`}`,
    headers: { 'x-api-key': await app.makeKey({ plan: 'free', scopes }) },
    refusal: scopeRefusal(scopes),
  }))
  const publishable = await app.makeKey({ plan: 'free', type: 'publishable', origins: [ORIGIN] })
  const fromPage = (name: string, origin: string | undefined, good: boolean): Credential => ({
    name: `a publishable key from ${name}`,
    headers: { 'x-api-key': publishable, ...(origin !== undefined && { origin }) },
    refusal: (row) => scopeRefusal(['geo:read'])(row) ?? (good ? null : 'ORIGIN_NOT_ALLOWED'),
  })
  return [
    { name: 'an expired key', headers: { 'x-api-key': expired }, refusal: () => 'UNAUTHORIZED' },
    {
      name: 'an expired key beside a session',
      headers: { 'x-api-key': expired, authorization: `Bearer ${token}` },
      refusal: () => 'UNAUTHORIZED',
    },
    { name: 'a session', headers: { authorization: `Bearer ${token}` }, refusal: () => null },
    ...(await Promise.all(secrets)),
    fromPage('its page', ORIGIN, true),
    fromPage('another page', 'https://evil.example', false),
    fromPage('no page', undefined, false),
  ]
}

function scopeRefusal(scopes: readonly Scope[] | null) {
  return ({ access }: Operation) =>
    access === 'public' || scopes === null || scopes.includes(access) ? null : 'INSUFFICIENT_SCOPE'
}

function subsets(scopes: readonly Scope[]): Scope[][] {
  const numbers = Array.from({ length: 2 ** scopes.length }, (_, number) => number)
  return numbers.map((number) => scopes.filter((_, bit) => (number >> bit) & 1))
}

let made = 0

/** Bodies and queries under which an operation succeeds whoever asks, however often. */
const REQUESTS: Readonly<Record<string, () => SendOptions & { readonly query?: string }>> = {
  createKey: () => ({ body: { name: 'made', scopes: ['account:write'] } }),
  createSite: () => ({ body: { name: `https://site-${made++}.example` } }),
  previewPlanChange: () => ({ query: '?planId=pro' }),
  getRumSummary: () => ({ query: '?domain=app.example' }),
  getRumOverview: () => ({ query: '?domain=app.example' }),
}

/** What an operation answers to who is let in, where that is no success: nobody has such a thing. */
const OUTCOMES: Readonly<Record<string, string>> = {
  setOverages: 'NO_ACTIVE_SUBSCRIPTION',
  revokeKey: 'NOT_FOUND',
  renewKey: 'NOT_FOUND',
  deleteSite: 'NOT_FOUND',
  sendBeacon: 'ORIGIN_NOT_ALLOWED',
  getRumSummary: 'NOT_FOUND',
  getRumOverview: 'NOT_FOUND',
  createCheckout: 'BILLING_NOT_CONFIGURED',
  changePlan: 'NO_ACTIVE_SUBSCRIPTION',
  previewPlanChange: 'NO_ACTIVE_SUBSCRIPTION',
  cancelSubscription: 'NO_ACTIVE_SUBSCRIPTION',
  reactivateSubscription: 'NO_ACTIVE_SUBSCRIPTION',
  receiveStripeEvent: 'BAD_REQUEST',
  openPortal: 'NO_BILLING_ACCOUNT',
  listInvoices: 'NO_BILLING_ACCOUNT',
  getBillingDetails: 'NO_BILLING_ACCOUNT',
  updateAddress: 'NO_BILLING_ACCOUNT',
  applyPromo: 'NO_ACTIVE_SUBSCRIPTION',
  listTaxIds: 'NO_BILLING_ACCOUNT',
  addTaxId: 'NO_BILLING_ACCOUNT',
  deleteTaxId: 'NO_BILLING_ACCOUNT',
  getPaymentMethod: 'NO_BILLING_ACCOUNT',
  createSetupIntent: 'BILLING_NOT_CONFIGURED',
  setPaymentMethod: 'NO_ACTIVE_SUBSCRIPTION',
  sendInquiry: 'BOT_VERIFICATION_FAILED',
}

async function outcome(row: Operation, { headers }: Credential): Promise<string> {
  const { query = '', body = row.body?.example } = REQUESTS[row.id]?.() ?? {}
  const path = row.path.replace('{ipAddress}', '81.2.69.160').replaceAll(/\{\w+\}/g, 'some')
  const from = row.path.startsWith('/v1/ip/me') ? '81.2.69.160' : freshClient()
  const method = row.method.toUpperCase()
  const answer = await app.send(method, `${path}${query}`, { headers, body, from })
  return answer.status < 300 ? 'success' : codeOf(answer)
}

function expected(row: Operation, credential: Credential): string {
  const refusal = row.access === 'public' ? null : credential.refusal(row)
  if (refusal !== null) return refusal
  return OUTCOMES[row.id] ?? 'success'
}

describe('the access matrix', () => {
  for (const row of rows) {
    it(`of ${row.id}: every credential gets what ${row.access} allows`, async () => {
      for (const credential of credentials) {
        assert.equal(await outcome(row, credential), expected(row, credential), credential.name)
      }
    })
  }

  it('has a cell for each set of scopes', () => {
    assert.equal(credentials.length, 5 + 3 + 1 + 2 ** SCOPES.length + 3)
  })
})
