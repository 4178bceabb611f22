import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { errorCodes, type Operation } from '../../lib/contract/operation.ts'
import { operations } from '../../lib/contract/operations.ts'
import { ERROR_STATUS } from '../../lib/parts/errors.ts'
import { words } from '../support/words.ts'

/**
 * The published list of endpoints, written out by hand: endpoint, required access, and the statuses
 * whose answer is not an ApiError. 'key' means that the list names no scope. It also has the additions
 * that clients rely on; a new one may be missing.
 */
const ENDPOINTS = [
  ['GET /health', 'public', 200, 503],
  // An addition.
  ['GET /health/ready', 'public', 200, 503],
  ['GET /.well-known/openapi.json', 'public', 200],
  ['GET /v1', 'public', 200],
  ['GET /v1/billing/plans', 'public', 200],
  // An addition.
  ['GET /v1/billing/prices', 'public', 200],
  ['POST /v1/billing/webhook', 'public', 200],
  ['POST /v1/contact', 'public', 200],
  ['GET /v1/contact/challenge', 'public', 200],
  ['POST /v1/telemetry/rum', 'public', 204],
  // The next four are additions, too.
  ['GET /rum.json', 'public', 200],
  ['POST /v1/ip/batch', 'geo:read', 200],
  ['POST /v1/ip/summary', 'geo:read', 200],
  ['GET /v1/asn/{asn}', 'geo:read', 200, 404],
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
  ['GET /v1/account/me/sites/{siteId}/proof', 'account:read', 200],
  ['POST /v1/account/me/sites/{siteId}/proof', 'account:write', 200],
  ['GET /v1/account/me/audit', 'account:read', 200],
  // The next fourteen are additions, too.
  ['POST /v1/account/me/keys/{keyId}/rotate', 'account:write', 201],
  ['GET /v1/account/me/usage/details', 'account:read', 200],
  ['GET /v1/account/me/sessions', 'account:read', 200],
  ['DELETE /v1/account/me/sessions', 'account:write', 200],
  ['DELETE /v1/account/me/sessions/{sessionId}', 'account:write', 200],
  ['POST /v1/account/me/email', 'account:write', 200],
  ['POST /v1/account/me/email/confirm', 'account:write', 200],
  ['GET /v1/account/me/second-factor', 'account:read', 200],
  ['POST /v1/account/me/second-factor', 'account:write', 200],
  ['POST /v1/account/me/second-factor/confirm', 'account:write', 200],
  ['POST /v1/account/me/second-factor/recovery-codes', 'account:write', 200],
  ['POST /v1/account/me/second-factor/remove', 'account:write', 200],
  ['GET /v1/account/me/export', 'account:read', 200],
  ['POST /v1/account/me/delete', 'account:write', 200],
  ['GET /v1/billing/subscription', 'billing:read', 200],
  ['POST /v1/billing/subscription', 'billing:write', 200],
  ['PUT /v1/billing/subscription', 'key', 200],
  ['PATCH /v1/billing/subscription', 'billing:write', 200],
  ['DELETE /v1/billing/subscription', 'billing:write', 200],
  ['GET /v1/billing/subscription/preview', 'key', 200],
  // An addition.
  ['GET /v1/billing/subscription/terms', 'billing:read', 200],
  ['POST /v1/billing/subscription/reactivate', 'key', 200],
  // The next two are additions, too.
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
  ['GET /v1/billing/overages', 'billing:read', 200],
  ['PUT /v1/billing/overages', 'billing:write', 200],
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

describe('the contract table', () => {
  it('lists all endpoints of the contract', () => {
    const listed = new Set(rows.map(endpoint))
    const missing = ENDPOINTS.filter(([name]) => !listed.has(name))
    assert.deepEqual(missing, [])
  })

  it('lists no public endpoint that is not published', () => {
    const published = new Set<string>(ENDPOINTS.map(([name]) => name))
    const others = rows.filter(({ access }) => access === 'public').map(endpoint)
    const unpublished = others.filter((name) => !published.has(name))
    assert.deepEqual(unpublished, [])
  })

  it('requires the scopes of the contract, and a key where it names none', () => {
    const access = new Map(rows.map((row) => [endpoint(row), row.access]))
    for (const [name, needs] of ENDPOINTS) {
      if (needs === 'key') assert.notEqual(access.get(name), 'public', name)
      else assert.equal(access.get(name), needs, name)
    }
  })

  it('requires billing:read for GET and billing:write for everything else in billing', () => {
    for (const row of rows.filter(({ tag, access }) => tag === 'Billing' && access !== 'public')) {
      const needs = row.method === 'get' ? 'billing:read' : 'billing:write'
      assert.equal(row.access, needs, row.id)
    }
  })

  it('limits the changes of each user per hour, but not removals and checks', () => {
    const changes = rows.filter(({ limit, method }) => limit === 'account' && method !== 'get')
    const ids = changes.filter((row) => row.successLimit === undefined).map(({ id }) => id)
    const expected = words(
      'revokeKey deleteSite checkSiteProof removeUsageReceiver endOtherSessions endSession',
    )
    assert.deepEqual(ids, expected)
  })

  it('lists the statuses of the contract that are not errors', () => {
    const replies = new Map(rows.map((row) => [endpoint(row), Object.keys(row.replies)]))
    for (const [name, ...own] of ENDPOINTS) {
      const [, ...published] = own
      assert.deepEqual(replies.get(name), published.map(String), name)
    }
  })

  it('lists the error status of every condition in the contract', () => {
    const possible = new Map(rows.map((row) => [endpoint(row), statuses(row)]))
    for (const [status, names] of Object.entries(CONDITIONS)) {
      for (const name of names) assert.ok(possible.get(name)?.has(Number(status)), name + status)
    }
  })

  it('lists 401 exactly where a key is required', () => {
    for (const row of rows) {
      assert.equal(errorCodes(row).includes('UNAUTHORIZED'), row.access !== 'public', row.id)
    }
  })

  it('lists an error for every operation except the health checks', () => {
    const without = rows.filter((row) => ![...statuses(row)].some((s) => s >= 400 && s < 500))
    assert.deepEqual(without.map(endpoint), ['GET /health', 'GET /health/ready'])
  })

  it('has one kind of body per status of a row', () => {
    for (const row of rows) {
      const both = errorCodes(row).filter((code) => ERROR_STATUS[code] in row.replies)
      assert.deepEqual(both, [], row.id)
    }
  })

  it('has unique ids and unique endpoints', () => {
    assert.equal(new Set(rows.map(({ id }) => id)).size, rows.length)
    assert.equal(new Set(rows.map(endpoint)).size, rows.length)
  })

  it('describes exactly the parameters of each path', () => {
    for (const { id, path, params = {} } of rows) {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      assert.deepEqual(Object.keys(params), names, id)
    }
  })

  it('has examples that match their schemas', () => {
    for (const { id, body, replies } of rows) {
      const bodies = [...Object.values(replies), ...(body === undefined ? [] : [body])]
      for (const { schema, example } of bodies) assertValid(schema ?? v.undefined(), example, id)
    }
  })

  it('has summaries in sentence case without a period', () => {
    for (const { id, summary, params = {}, headers = {}, replies } of rows) {
      const described = [...Object.values({ ...params, ...headers }), ...Object.values(replies)]
      const texts = [summary, ...described.map(({ description }) => description)]
      for (const text of texts) assert.match(text, /^[A-Z].*[^.]$/, id)
    }
  })
})
