import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { mintKey } from '../../lib/access/api-key.ts'
import { type Operation, SCOPES, type Scope } from '../../lib/contract/operation.ts'
import { operations } from '../../lib/contract/operations.ts'
import { TOOLS } from '../../lib/mcp/tools.ts'
import { codeOf, makeApp, NOON, type TestApp, withoutAccountLimit } from '../support/helpers.ts'
import { freshClient, type SendOptions } from '../support/scene/send.ts'
import { signUp } from '../support/sign-in.ts'
import { tempFolder } from '../support/temp-folder.ts'

/*
 * Sends every kind of credential, with every set of scopes, to every operation of the contract, and
 * compares each answer with the rules below.
 */

type AccessError = 'UNAUTHORIZED' | 'ANONYMOUS_ACCESS' | 'INSUFFICIENT_SCOPE' | 'ORIGIN_NOT_ALLOWED'

interface Credential {
  readonly name: string
  readonly headers: Readonly<Record<string, string>>
  /** The error of an operation that refuses the credential; null if it accepts it. */
  readonly error: (row: Operation) => AccessError | null
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

/** A plan that this service does not sell. */
const PAID = { ...WIDE, id: 'pro', price: 29 }

const rows: readonly Operation[] = operations

let app: TestApp
let credentials: readonly Credential[]
before(async () => {
  const plans = join(folder, 'plans.json')
  writeFileSync(plans, JSON.stringify([WIDE, PAID]))
  // The pages of the keys may call /mcp; the keys decide on the rest.
  const pages = `${ORIGIN},https://evil.example`
  const env = { MERIDIAN_PLANS: plans, MERIDIAN_CONTACT: 'store', MERIDIAN_CORS_ORIGINS: pages }
  app = await makeApp({ env, replace: withoutAccountLimit })
  credentials = [...badCredentials(), ...(await storedCredentials())]
})
after(() => app.close())

function badCredentials(): Credential[] {
  const unauthorized = () => 'UNAUTHORIZED' as const
  const key = (text: string) => ({ headers: { 'x-api-key': text }, error: unauthorized })
  const bearer = (token: string) => ({
    headers: { authorization: `Bearer ${token}` },
    error: unauthorized,
  })
  return [
    {
      name: 'nothing',
      headers: {},
      error: ({ id }) => (id === 'getCallerTimezone' ? 'ANONYMOUS_ACCESS' : 'UNAUTHORIZED'),
    },
    { name: 'an unknown key', ...key(mintKey('secret').text) },
    { name: 'an unknown publishable key', ...key(mintKey('publishable').text) },
    { name: 'an unknown session', ...bearer('nonsense') },
    { name: 'a key as a bearer', ...bearer(mintKey('secret').text) },
  ]
}

async function storedCredentials(): Promise<Credential[]> {
  const expired = await app.makeKey({ plan: 'free', expiresAt: NOON })
  const token = await signUp(app, 'session@example.com')
  const secrets = [null, ...subsets(SCOPES)].map(async (scopes) => ({
    name: `a secret key of ${scopes === null ? 'everything' : `[${scopes}]`}`,
    headers: { 'x-api-key': await app.makeKey({ plan: 'free', scopes }) },
    error: scopeError(scopes),
  }))
  const publishable = await app.makeKey({ plan: 'free', type: 'publishable', origins: [ORIGIN] })
  const fromPage = (name: string, origin: string | undefined, good: boolean): Credential => ({
    name: `a publishable key from ${name}`,
    headers: { 'x-api-key': publishable, ...(origin !== undefined && { origin }) },
    error: (row) => scopeError(['geo:read'])(row) ?? (good ? null : 'ORIGIN_NOT_ALLOWED'),
  })
  return [
    { name: 'an expired key', headers: { 'x-api-key': expired }, error: () => 'UNAUTHORIZED' },
    {
      name: 'an expired key together with a session',
      headers: { 'x-api-key': expired, authorization: `Bearer ${token}` },
      error: () => 'UNAUTHORIZED',
    },
    { name: 'a session', headers: { authorization: `Bearer ${token}` }, error: () => null },
    ...(await Promise.all(secrets)),
    fromPage('its page', ORIGIN, true),
    fromPage('another page', 'https://evil.example', false),
    fromPage('no page', undefined, false),
  ]
}

function scopeError(scopes: readonly Scope[] | null) {
  return ({ access, fullAccess }: Operation) => {
    if (access === 'public' || scopes === null) return null
    return scopes.includes(access) && fullAccess !== true ? null : 'INSUFFICIENT_SCOPE'
  }
}

function subsets(scopes: readonly Scope[]): Scope[][] {
  const numbers = Array.from({ length: 2 ** scopes.length }, (_, number) => number)
  return numbers.map((number) => scopes.filter((_, bit) => (number >> bit) & 1))
}

let made = 0

/** Bodies and queries in place of the example of the contract. */
const REQUESTS: Readonly<Record<string, () => SendOptions & { readonly query?: string }>> = {
  // The address of another user, or without the password.
  changeEmail: () => ({ body: { email: 'session@example.com' } }),
  createKey: () => ({ body: { name: 'made', scopes: ['account:write'] } }),
  createSite: () => ({ body: { name: `https://site-${made++}.example` } }),
  previewPlanChange: () => ({ query: '?planId=pro' }),
  getRumSummary: () => ({ query: '?domain=app.example' }),
  getRumOverview: () => ({ query: '?domain=app.example' }),
}

/** The errors that operations answer even to an authorised caller, besides those that miss an id. */
const OUTCOMES: Readonly<Record<string, string>> = {
  setOverages: 'PLAN_REQUIRED',
  getOverages: 'PLAN_REQUIRED',
  setSpendingCap: 'PLAN_REQUIRED',
  deleteAccount: 'BAD_REQUEST',
  changeEmail: 'BAD_REQUEST',
  confirmEmail: 'BAD_REQUEST',
  offerSecondFactor: 'BAD_REQUEST',
  confirmSecondFactor: 'BAD_REQUEST',
  renewRecoveryCodes: 'BAD_REQUEST',
  removeSecondFactor: 'BAD_REQUEST',
  sendBeacon: 'ORIGIN_NOT_ALLOWED',
  getRumSummary: 'NOT_FOUND',
  getRumOverview: 'NOT_FOUND',
  createCheckout: 'BILLING_NOT_CONFIGURED',
  changePlan: 'NO_ACTIVE_SUBSCRIPTION',
  previewPlanChange: 'NO_ACTIVE_SUBSCRIPTION',
  getTerms: 'NO_ACTIVE_SUBSCRIPTION',
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
  const path = row.path
    .replace('{ipAddress}', '81.2.69.160')
    .replace('{asn}', 'AS20712')
    .replaceAll(/\{\w+\}/g, 'some')
  const from = row.path.startsWith('/v1/ip/me') ? '81.2.69.160' : freshClient()
  const method = row.method.toUpperCase()
  const answer = await app.send(method, `${path}${query}`, { headers, body, from })
  return answer.status < 300 ? 'success' : codeOf(answer)
}

/** The same by the tool of the operation. */
async function toolOutcome({ id, body }: Operation, { headers }: Credential): Promise<string> {
  const params = { name: id, arguments: TOOL_ARGUMENTS[id] ?? body?.example }
  const request = new Request('http://127.0.0.1:8787/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  })
  const response = await app.app.fetch(request, { remoteAddress: freshClient() })
  const answer = JSON.parse(await response.text())
  if (response.status !== 200) return codeOf({ body: answer })
  const { isError, structuredContent } = answer.result
  return isError === true ? codeOf({ body: structuredContent }) : 'success'
}

const TOOL_ARGUMENTS: Readonly<Record<string, object>> = {
  locateAddress: { ipAddress: '81.2.69.160' },
  getAutonomousSystem: { asn: 'AS20712' },
  getRumOverview: { domain: 'app.example' },
}

/** `outcome` fills in an id that nobody has. */
const HAS_ID = /\{(?!ipAddress|asn)\w+\}/

function expected(row: Operation, credential: Credential): string {
  const error = row.access === 'public' ? null : credential.error(row)
  if (error !== null) return error
  return OUTCOMES[row.id] ?? (HAS_ID.test(row.path) ? 'NOT_FOUND' : 'success')
}

describe('the access matrix', () => {
  for (const row of rows) {
    it(`admits exactly the credentials that ${row.access} allows: ${row.id}`, async () => {
      for (const credential of credentials) {
        assert.equal(await outcome(row, credential), expected(row, credential), credential.name)
      }
    })
  }

  for (const { row } of TOOLS) {
    it(`is the same for the tool of /mcp: ${row.id}`, async () => {
      for (const credential of credentials) {
        assert.equal(await toolOutcome(row, credential), expected(row, credential), credential.name)
      }
    })
  }

  it('covers every set of scopes', () => {
    assert.equal(credentials.length, 5 + 3 + 1 + 2 ** SCOPES.length + 3)
  })
})
