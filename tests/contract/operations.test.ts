import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { errorCodes, type Operation } from '../../../lib/contract/operation.ts'
import { operations } from '../../../lib/contract/operations.ts'
import { ERROR_STATUS } from '../../../lib/errors.ts'

/**
 * The published list of endpoints, written out by hand: endpoint, what it needs, statuses of its
 * own bodies. 'key' is where the list names no scope. Of ours there is one more, the overview.
 */
const ENDPOINTS = [
  ['GET /health', 'public', 200, 503],
  ['GET /.well-known/openapi.json', 'public', 200],
  ['GET /v1', 'public', 200],
  ['GET /v1/billing/plans', 'public', 200],
  ['POST /v1/billing/webhook', 'public', 200],
  ['POST /v1/contact', 'public', 200],
  ['GET /v1/contact/challenge', 'public', 200],
  ['POST /v1/telemetry/rum', 'public', 204],
  // Additions to the published ones.
  ['GET /rum.json', 'public', 200],
  ['POST /v1/ip/batch', 'geo:read', 200],
  ['GET /v1/ip/me', 'geo:read', 200, 404],
  ['GET /v1/ip/{ipAddress}', 'geo:read', 200, 404],
  ['GET /v1/ip/me/timezone', 'geo:read', 200, 404],
  ['GET /v1/ip/{ipAddress}/timezone', 'geo:read', 200, 404],
  ['GET /v1/ip/{ipAddress}/validation', 'geo:read', 200],
  ['GET /v1/account/me', 'account:read', 200],
  ['GET /v1/account/me/keys', 'account:read', 200],
  ['POST /v1/account/me/keys', 'account:write', 201],
  ['DELETE /v1/account/me/keys/{keyId}', 'account:write', 200],
  ['POST /v1/account/me/keys/{keyId}/renew', 'account:write', 200],
  ['GET /v1/account/me/usage', 'account:read', 200],
  ['GET /v1/account/me/sites', 'account:read', 200],
  ['POST /v1/account/me/sites', 'account:write', 201],
  ['DELETE /v1/account/me/sites/{siteId}', 'account:write', 204],
  ['GET /v1/account/me/audit', 'account:read', 200],
  ['GET /v1/billing/subscription', 'billing:read', 200],
  ['POST /v1/billing/subscription', 'billing:write', 200],
  ['PUT /v1/billing/subscription', 'key', 200],
  ['PATCH /v1/billing/subscription', 'billing:write', 200],
  ['DELETE /v1/billing/subscription', 'billing:write', 200],
  ['GET /v1/billing/subscription/preview', 'key', 200],
  ['POST /v1/billing/subscription/reactivate', 'key', 200],
  ['POST /v1/billing/portal', 'billing:write', 200],
  ['GET /v1/billing/invoices', 'key', 200],
  ['GET /v1/billing/details', 'key', 200],
  ['PUT /v1/billing/address', 'key', 200],
  ['POST /v1/billing/promo', 'key', 200],
  ['GET /v1/billing/discount', 'key', 200],
  ['GET /v1/billing/tax-ids', 'key', 200],
  ['POST /v1/billing/tax-ids', 'key', 201],
  ['DELETE /v1/billing/tax-ids/{id}', 'key', 200],
  ['GET /v1/billing/payment-method-info', 'key', 200],
  ['POST /v1/billing/setup-intent', 'key', 200],
  ['POST /v1/billing/payment-method', 'key', 200],
  ['POST /v1/billing/contact', 'key', 200],
  ['GET /v1/telemetry/rum/summary', 'key', 200],
  ['GET /v1/telemetry/rum/overview', 'key', 200],
] as const

/** The published conditions of each status, by endpoint. */
const CONDITIONS = {
  400: [
    ...['POST /v1/billing/webhook', 'POST /v1/telemetry/rum', 'GET /v1/telemetry/rum/summary'],
    ...['GET /v1/ip/{ipAddress}', 'GET /v1/ip/{ipAddress}/timezone', 'GET /v1/account/me/audit'],
    ...['POST /v1/contact', 'POST /v1/account/me/keys', 'POST /v1/account/me/sites'],
    ...['POST /v1/billing/subscription', 'PUT /v1/billing/subscription'],
    ...['PATCH /v1/billing/subscription', 'GET /v1/billing/subscription/preview'],
    ...['PUT /v1/billing/address', 'POST /v1/billing/promo', 'POST /v1/billing/tax-ids'],
    ...['POST /v1/billing/payment-method', 'POST /v1/billing/contact'],
  ],
  403: [
    ...['GET /v1/ip/me/timezone', 'POST /v1/account/me/keys', 'GET /v1/account/me/audit'],
    ...['POST /v1/account/me/sites', 'POST /v1/contact', 'POST /v1/telemetry/rum'],
    'PATCH /v1/billing/subscription',
  ],
  404: [
    ...['GET /v1/ip/me', 'GET /v1/ip/{ipAddress}', 'GET /v1/ip/me/timezone'],
    ...['GET /v1/ip/{ipAddress}/timezone', 'DELETE /v1/account/me/keys/{keyId}'],
    ...['POST /v1/account/me/keys/{keyId}/renew', 'DELETE /v1/account/me/sites/{siteId}'],
    ...['PUT /v1/billing/subscription', 'GET /v1/billing/subscription/preview'],
    ...['DELETE /v1/billing/subscription', 'POST /v1/billing/subscription/reactivate'],
    ...['POST /v1/billing/promo', 'POST /v1/billing/payment-method', 'GET /v1/billing/invoices'],
    ...['GET /v1/billing/details', 'PUT /v1/billing/address', 'GET /v1/billing/tax-ids'],
    ...['POST /v1/billing/tax-ids', 'DELETE /v1/billing/tax-ids/{id}'],
    ...['GET /v1/billing/payment-method-info', 'POST /v1/billing/setup-intent'],
    'GET /v1/telemetry/rum/summary',
  ],
  413: ['POST /v1/telemetry/rum'],
  429: [
    ...['GET /v1/ip/me', 'GET /v1/ip/{ipAddress}', 'GET /v1/ip/me/timezone'],
    ...['GET /v1/ip/{ipAddress}/timezone', 'GET /v1/ip/{ipAddress}/validation'],
    ...['POST /v1/telemetry/rum', 'POST /v1/contact'],
  ],
  503: [
    ...['GET /health', 'POST /v1/contact', 'GET /v1/account/me/audit'],
    'POST /v1/billing/setup-intent',
  ],
} as const

const rows: readonly Operation[] = operations

function endpoint({ method, path }: Operation): string {
  return `${method.toUpperCase()} ${path}`
}

function statuses(row: Operation): Set<number> {
  const errors = errorCodes(row).map((code) => ERROR_STATUS[code])
  return new Set([...Object.keys(row.replies).map(Number), ...errors])
}

function assertValid(schema: v.GenericSchema, example: unknown, name: string): void {
  const { issues } = v.safeParse(schema, example)
  assert.deepEqual(issues ?? [], [], `example of ${name}`)
}

describe('the table of operations', () => {
  it('holds the published endpoints and no other', () => {
    const published = ENDPOINTS.map(([name]) => name)
    assert.deepEqual(rows.map(endpoint).sort(), published.sort())
  })

  it('asks for the published scopes, and for a key where none is named', () => {
    const access = new Map(rows.map((row) => [endpoint(row), row.access]))
    for (const [name, needs] of ENDPOINTS) {
      if (needs === 'key') assert.notEqual(access.get(name), 'public', name)
      else assert.equal(access.get(name), needs, name)
    }
  })

  it('lets billing:read read and billing:write do the rest', () => {
    for (const row of rows.filter(({ tag, access }) => tag === 'Billing' && access !== 'public')) {
      const needs = row.method === 'get' ? 'billing:read' : 'billing:write'
      assert.equal(row.access, needs, row.id)
    }
  })

  it('answers with the published statuses', () => {
    const replies = new Map(rows.map((row) => [endpoint(row), Object.keys(row.replies)]))
    for (const [name, ...own] of ENDPOINTS) {
      const [, ...published] = own
      assert.deepEqual(replies.get(name), published.map(String), name)
    }
  })

  it('may fail with the status of every published condition', () => {
    const possible = new Map(rows.map((row) => [endpoint(row), statuses(row)]))
    for (const [status, names] of Object.entries(CONDITIONS)) {
      for (const name of names) assert.ok(possible.get(name)?.has(Number(status)), name + status)
    }
  })

  it('refuses a missing credential with 401 wherever a key is needed, and nowhere else', () => {
    for (const row of rows) {
      assert.equal(errorCodes(row).includes('UNAUTHORIZED'), row.access !== 'public', row.id)
    }
  })

  it('has an answer for a bad request to every operation but the health check', () => {
    const without = rows.filter((row) => ![...statuses(row)].some((s) => s >= 400 && s < 500))
    assert.deepEqual(without.map(endpoint), ['GET /health'])
  })

  it('has one kind of body for each status of a row', () => {
    for (const row of rows) {
      const both = errorCodes(row).filter((code) => ERROR_STATUS[code] in row.replies)
      assert.deepEqual(both, [], row.id)
    }
  })

  it('gives each operation an id and an endpoint of its own', () => {
    assert.equal(new Set(rows.map(({ id }) => id)).size, rows.length)
    assert.equal(new Set(rows.map(endpoint)).size, rows.length)
  })

  it('describes the parameters of every path and no other', () => {
    for (const { id, path, params = {} } of rows) {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      assert.deepEqual(Object.keys(params), names, id)
    }
  })

  it('has examples that its schemas accept', () => {
    for (const { id, body, replies } of rows) {
      const bodies = [...Object.values(replies), ...(body === undefined ? [] : [body])]
      for (const { schema, example } of bodies) assertValid(schema ?? v.undefined(), example, id)
    }
  })

  it('has texts in sentence case without a period', () => {
    for (const { id, summary, params = {}, headers = {}, replies } of rows) {
      const described = [...Object.values({ ...params, ...headers }), ...Object.values(replies)]
      const texts = [summary, ...described.map(({ description }) => description)]
      for (const text of texts) assert.match(text, /^[A-Z].*[^.]$/, id)
    }
  })
})
