import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import type { Operation } from '../../lib/contract/operation.ts'
import { operations } from '../../lib/contract/operations.ts'
import { TOOLS } from '../../lib/mcp/tools.ts'
import { MINUTE_MS } from '../../lib/parts/durations.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import { openSession } from '../../routes/dashboard/request/session.ts'
import { createHandlers } from '../../routes/handlers.ts'
import { openExchange } from '../../routes/request/exchange.ts'
import { type Given, textOf } from '../../routes/request/within.ts'
import { connectTo } from '../mcp/assistant.ts'
import { NOON } from '../support/helpers.ts'
import { sharedScene } from '../support/scene/scene.ts'
import { signUp } from '../support/sign-in.ts'

/** The address of all callers. */
const CLIENT = '81.2.69.160'
const SITE = 'app.example'
const HOURS = { domain: SITE, from: '2026-01-15T00', to: '2026-01-15T11' }
const IPS = ['81.2.69.160', '10.0.0.1', 'nowhere']

/** What is given to the operations that need something. */
const GIVEN: Readonly<Record<string, Given>> = {
  locateAddress: { params: { ipAddress: '81.2.69.160' }, query: { include: 'network' } },
  getTimezone: { params: { ipAddress: '81.2.69.160' } },
  validateAddress: { params: { ipAddress: 'nowhere' } },
  locateBatch: { body: { ips: IPS } },
  summarizeAddresses: { body: { ips: IPS, top: 2 } },
  getAutonomousSystem: { params: { asn: 'AS20712' }, query: { limit: '10' } },
  getUsageDetails: { query: { by: 'day,status' } },
  listAuditLog: { query: { limit: '1' } },
  getSubscription: { query: { refresh: 'true' } },
  previewPlanChange: { query: { planId: 'pro' } },
  getRumSummary: { query: HOURS },
  getRumOverview: { query: { ...HOURS, series: 'hour' } },
}

/** All operations that only read, and have a caller. An export is a file, which differs each time. */
const ROWS = operations.filter(
  (row: Operation) =>
    row.access !== 'public' &&
    row.id !== 'exportAccount' &&
    (row.method === 'get' || row.requestsIn !== undefined),
)

/** Requests that are refused: their errors are equal, too. */
const REFUSED: readonly (readonly [id: string, given: Given])[] = [
  ['locateAddress', { params: { ipAddress: 'nowhere' } }],
  ['getUsageDetails', { query: { opration: 'locateAddress' } }],
  ['locateBatch', { body: { ips: 1 } }],
  ['summarizeAddresses', { body: { ips: IPS, top: 0 } }],
  ['getSiteProof', { params: { siteId: 'unknown' } }],
  ['getRumOverview', { query: { ...HOURS, domain: 'other.example' } }],
]

let now = NOON
let token: string
let siteId: string
const app = sharedScene({ now: () => now }, async () => {
  token = await signUp(app)
  const headers = { authorization: `Bearer ${token}` }
  const body = { name: `https://${SITE}` }
  const made = await app.send('POST', '/v1/account/me/sites', { headers, body })
  siteId = JSON.parse(made.text).id
})
// So that no limit is used up.
beforeEach(() => {
  now += MINUTE_MS
})

type Ask = (row: Operation, given: Given) => Promise<string>

/** As JSON, without what differs between two requests. */
function steady(text: string): unknown {
  const same = text
    .replaceAll(/"requestId":"[^"]*"/g, '"requestId":""')
    .replaceAll(/"rateLimitRemaining":\d+/g, '"rateLimitRemaining":0')
    // For readers of HTTP: assistants and pages have other ways to the reference.
    .replaceAll(/,"documentation":"[^"]*"(?=\})/g, '')
  return same === '' ? null : JSON.parse(same)
}

function pathOf(row: Operation, { params = {}, query = {} }: Given): string {
  const path = row.path.replaceAll(/\{(\w+)\}/g, (_, name) => params[name] ?? '')
  const search = new URLSearchParams(query)
  return search.size === 0 ? path : `${path}?${search}`
}

/** Performs an operation with the session, by HTTP. Returns the body, also of an error. */
const askByHttp: Ask = async (row, given) => {
  const headers = { authorization: `Bearer ${token}` }
  const sent = { headers, from: CLIENT, ...(given.body !== undefined && { body: given.body }) }
  return (await app.send(row.method.toUpperCase(), pathOf(row, given), sent)).text
}

/** Does the same within the process. */
const OTHERS: Readonly<Record<string, Ask>> = {
  page: async (row, given) => {
    const { services } = app
    const req = { method: 'GET', header: () => undefined }
    const exchange = openExchange(services, { env: { remoteAddress: CLIENT }, req })
    const api = { services, handlers: createHandlers(services) }
    const session = openSession(api, exchange, token)
    try {
      return textOf(await session.perform(session.open(row), given))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const { code, message, query, field } = error
      const named = { code, message, ...(field !== undefined && { field }) }
      const shown = { error: named, meta: { requestId: '' } }
      return JSON.stringify({ ...shown, ...(query !== undefined && { query }) })
    }
  },
  reference: async (row, given) => {
    const sent = { operation: row.id, path: pathOf(row, given), body: JSON.stringify(given.body) }
    const request = new Request('http://127.0.0.1:8787/app/try', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'sec-fetch-site': 'same-origin',
        cookie: `meridian_dashboard=${token}`,
      },
      body: JSON.stringify(sent),
    })
    return (await app.app.fetch(request, { remoteAddress: CLIENT })).text()
  },
}

/** What an assistant is told by the tool: the body of an answer, or the error. */
async function askTool(row: Operation, given: Given): Promise<unknown> {
  await using client = await connectTo(app, { authorization: `Bearer ${token}` })
  const body = typeof given.body === 'object' ? given.body : {}
  const called = { name: row.id, arguments: { ...given.params, ...given.query, ...body } }
  return steady(JSON.stringify((await client.callTool(called)).structuredContent))
}

function getRow(id: string): Operation {
  const row = ROWS.find((candidate) => candidate.id === id)
  assert.ok(row, id)
  return row
}

describe('all callers of an operation', () => {
  for (const row of ROWS) {
    it(`get the same answer from ${row.id}`, async () => {
      const own = row.id === 'getSiteProof' ? { params: { siteId } } : {}
      await compare(row, GIVEN[row.id] ?? own)
    })
  }

  for (const [id, given] of REFUSED) {
    it(`get the same error from ${id} for ${JSON.stringify(given)}`, async () => {
      const shown = await compare(getRow(id), given)
      assert.ok(typeof shown === 'object' && shown !== null && 'error' in shown)
    })
  }
})

async function compare(row: Operation, given: Given): Promise<unknown> {
  const http = steady(await askByHttp(row, given))
  for (const [name, ask] of Object.entries(OTHERS)) {
    assert.deepEqual(steady(await ask(row, given)), http, name)
  }
  if (!TOOLS.some((tool) => tool.row.id === row.id)) return http
  const told = await askTool(row, given)
  const isError = typeof http === 'object' && http !== null && 'error' in http
  assert.deepEqual(told, isError ? { error: http.error } : http, 'assistant')
  return http
}
