import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { mintKey } from '../../lib/access/api-key.ts'
import { type Operation, SCOPES, type Scope } from '../../lib/contract/operation.ts'
import { operations } from '../../lib/contract/operations.ts'
import { TOOLS } from '../../lib/mcp/tools.ts'
import { examplePath } from '../support/example-path.ts'
import { codeOf, NOON, withoutAccountLimit } from '../support/helpers.ts'
import { widePlansFile } from '../support/plans-file.ts'
import { sharedScene } from '../support/scene/scene.ts'
import { freshClient, type SendOptions } from '../support/scene/send.ts'
import { signUp } from '../support/sign-in.ts'
import { words } from '../support/words.ts'

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
const rows: readonly Operation[] = operations

// The pages of the keys may call /mcp; the keys decide on the rest.
const pages = `${ORIGIN},https://evil.example`
/** The service does not sell its plan `pro`. */
const plans = { MERIDIAN_PLANS: widePlansFile({ pro: 29 }) }
const env = { ...plans, MERIDIAN_CONTACT: 'store', MERIDIAN_CORS_ORIGINS: pages }
let credentials: readonly Credential[]
const app = sharedScene({ env, replace: withoutAccountLimit }, async () => {
  credentials = [...badCredentials(), ...(await storedCredentials())]
})

const byKey = (key: string) => ({ 'x-api-key': key })
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

function refused(name: string, headers: Credential['headers']): Credential {
  return { name, headers, error: () => 'UNAUTHORIZED' }
}

function badCredentials(): Credential[] {
  return [
    {
      ...refused('nothing', {}),
      error: ({ id }) => (id === 'getCallerTimezone' ? 'ANONYMOUS_ACCESS' : 'UNAUTHORIZED'),
    },
    refused('an unknown key', byKey(mintKey('secret').text)),
    refused('an unknown publishable key', byKey(mintKey('publishable').text)),
    refused('an unknown session', bearer('nonsense')),
    refused('a key as a bearer', bearer(mintKey('secret').text)),
  ]
}

async function storedCredentials(): Promise<Credential[]> {
  const expired = await app.makeKey({ plan: 'free', expiresAt: NOON })
  const token = await signUp(app, 'session@example.com')
  const secrets = [null, ...subsets(SCOPES)].map(async (scopes) => ({
    name: `a secret key of ${scopes === null ? 'everything' : `[${scopes}]`}`,
    headers: byKey(await app.makeKey({ plan: 'free', scopes })),
    error: scopeError(scopes),
  }))
  const publishable = await app.makeKey({ plan: 'free', type: 'publishable', origins: [ORIGIN] })
  const fromPage = (name: string, origin: string | undefined, good: boolean): Credential => ({
    name: `a publishable key from ${name}`,
    headers: { ...byKey(publishable), ...(origin !== undefined && { origin }) },
    error: (row) => scopeError(['geo:read'])(row) ?? (good ? null : 'ORIGIN_NOT_ALLOWED'),
  })
  return [
    refused('an expired key', byKey(expired)),
    refused('an expired key together with a session', { ...byKey(expired), ...bearer(token) }),
    { name: 'a session', headers: bearer(token), error: () => null },
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
const OUTCOMES: Readonly<Record<string, readonly string[]>> = {
  PLAN_REQUIRED: words('setOverages getOverages setSpendingCap'),
  BAD_REQUEST: words(`
    deleteAccount changeEmail confirmEmail offerSecondFactor confirmSecondFactor
    renewRecoveryCodes removeSecondFactor receiveStripeEvent`),
  ORIGIN_NOT_ALLOWED: ['sendBeacon'],
  NOT_FOUND: words('getRumSummary getRumOverview'),
  BILLING_NOT_CONFIGURED: words('createCheckout createSetupIntent'),
  NO_ACTIVE_SUBSCRIPTION: words(`
    changePlan previewPlanChange getTerms cancelSubscription
    reactivateSubscription applyPromo setPaymentMethod`),
  NO_BILLING_ACCOUNT: words(`
    openPortal listInvoices getBillingDetails updateAddress listTaxIds addTaxId deleteTaxId
    getPaymentMethod`),
  BOT_VERIFICATION_FAILED: ['sendInquiry'],
  // This server sends no mail.
  SERVICE_UNAVAILABLE: ['addUsageReceiver'],
}

async function outcome(row: Operation, { headers }: Credential): Promise<string> {
  const { query = '', body = row.body?.example } = REQUESTS[row.id]?.() ?? {}
  const from = row.path.startsWith('/v1/ip/me') ? '81.2.69.160' : freshClient()
  const method = row.method.toUpperCase()
  const answer = await app.send(method, `${examplePath(row)}${query}`, { headers, body, from })
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
  const [outcome] = Object.entries(OUTCOMES).find(([, ids]) => ids.includes(row.id)) ?? []
  return outcome ?? (HAS_ID.test(row.path) ? 'NOT_FOUND' : 'success')
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
