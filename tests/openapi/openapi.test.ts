import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { ApiErrorBody } from '../../lib/contract/common.ts'
import { errorCodes } from '../../lib/contract/operation.ts'
import { schemas } from '../../lib/contract/schemas.ts'
import { createOpenApi } from '../../lib/openapi/openapi.ts'
import { ERROR_STATUS } from '../../lib/parts/errors.ts'
import { jsonText } from '../../scripts/parts/json-text.ts'
import { runAtOnce } from '../support/run-at-once.ts'
import { BASE_URL, described, document, isObject, nodes, raw, rows, target } from './document.ts'

/** The published fields of the resources; `?` marks optional fields. */
const FIELDS = {
  // `hostname` is an addition.
  GeolocationResult: 'query? hostname? location? network? privacy? sources? meta?',
  UserProfile: 'id name email emailVerified createdAt',
  ApiKeyInfo: 'id prefix name type scopes allowedOrigins isActive createdAt lastUsedAt expiresAt',
  ApiKeyCreated: 'rawKey prefix id name type scopes allowedOrigins?',
  Site: 'id name userId createdAt',
  SiteProof: 'state receives record provenAt missingSince checkedAt',
  AuditLogEntry: 'id app actor_id actor_label action target_type target_id detail created_at',
  AuditListResponse: 'logs total limit offset',
  Plan: 'id name monthlyCap maxKeys maxSites price stripePriceId',
  SubscriptionResponse: 'plan subscription',
  UsageStats: 'totalKeys activeKeys totalRequests monthlyCap dailyUsage keys',
  RumSummary: 'domain period metrics',
  PercentileSet: 'p50 p75 p95',
  HealthStatus: 'status uptime timestamp checks',
  ReceivedResponse: 'received',
  OkResponse: 'ok',
  SuccessResponse: 'success',
  DeletedResponse: 'deleted',
  KeyRenewed: 'status',
  CancelResponse: 'status cancelAt',
  ReactivateResponse: 'status',
  OveragesResponse: 'overagesEnabled',
  CheckoutResponse: 'url? clientSecret?',
  SetupIntentResponse: 'clientSecret',
  ApiError: 'error meta? query?',
  CreateKeyBody: 'name type? scopes? allowedOrigins?',
  CreateSiteBody: 'name',
  AddressBody: 'line1 line2? city? state? postal_code? postalCode? country',
  Beacon: 'path? deviceType? connectionType? metrics? attribution? errors?',
} as const

/** Published without a name. A new body gets one in lib/contract/schemas.ts, for the clients' types. */
const UNNAMED = [
  ...['changeEmail', 'confirmEmail', 'offerSecondFactor', 'confirmSecondFactor'],
  ...['renewRecoveryCodes', 'removeSecondFactor', 'deleteAccount', 'setSpendingCap'],
]

const references = [...nodes(raw)].filter(([key]) => key === '$ref').map(([, ref]) => String(ref))

describe('the OpenAPI document', () => {
  it('is OpenAPI 3.1 and describes version 1.27.1 at the given base URL', () => {
    const { openapi, info, servers } = raw
    assert.equal(openapi, '3.1.0')
    assert.partialDeepStrictEqual(info, { version: '1.27.1' })
    assert.deepEqual(servers, [{ url: BASE_URL, description: 'This server' }])
  })

  it('is plain JSON', () => {
    assert.deepEqual(JSON.parse(JSON.stringify(raw)), raw)
  })

  it('contains exactly the operations of the contract table', () => {
    const found = Object.entries(document.paths).flatMap(([path, { parameters, ...byMethod }]) =>
      Object.entries(byMethod).map(([method, { operationId }]) => [method, path, operationId]),
    )
    const expected = rows.map(({ method, path, id }) => [method, path, id])
    assert.deepEqual(found.map(String).sort(), expected.map(String).sort())
  })

  it('has no dangling references', () => {
    assert.ok(references.length > 0)
    for (const ref of references) assert.ok(isObject(target(ref)), ref)
  })

  it('has no unused components', () => {
    const used = new Set(references)
    const { securitySchemes, ...components } = document.components
    for (const [kind, byName] of Object.entries(components)) {
      assert.ok(isObject(byName))
      const unused = Object.keys(byName).filter((name) => !used.has(`#/components/${kind}/${name}`))
      assert.deepEqual(unused, [], kind)
    }
  })

  it('does not set a JSON Schema dialect', () => {
    const foreign = [...nodes(raw)].filter(([key]) => ['$schema', '$defs', '$id'].includes(key))
    assert.deepEqual(foreign, [])
    assert.doesNotMatch(JSON.stringify(raw), /json-schema\.org|"nullable"/)
  })

  it('is the one that the clients in sdk/ were generated from: else run npm run sdk', () => {
    // sdk/generate.sh shortens the keys of the examples, too.
    const document = runAtOnce(createOpenApi('http://127.0.0.1:8787'))
    const text = jsonText(document).replaceAll(/([sp]k_live_)0{8,}/g, '$1…')
    assert.ok(readFileSync('sdk/openapi.json', 'utf8') === text, 'sdk/openapi.json is stale')
  })

  it('has a name for the body of each request that is not among these', () => {
    const named = new Set<unknown>(Object.values(schemas))
    const bodies = rows.filter(({ body }) => body !== undefined && !named.has(body.schema))
    const ids = bodies.map(({ id }) => id)
    assert.deepEqual(ids, UNNAMED)
  })

  it('has the fields of the contract in each resource', () => {
    for (const [name, fields] of Object.entries(FIELDS)) {
      const { properties = {}, required = [] } = document.components.schemas[name] ?? {}
      const found = Object.keys(properties).map((key) => (required.includes(key) ? key : `${key}?`))
      assert.deepEqual(found.sort(), fields.split(' ').sort(), name)
    }
  })
})

describe('an operation of the OpenAPI document', () => {
  it('lists every status of its contract row', () => {
    for (const row of rows) {
      const errors = errorCodes(row).map((code) => String(ERROR_STATUS[code]))
      const expected = new Set([...Object.keys(row.replies), ...errors, '431'])
      assert.deepEqual(Object.keys(described(row).responses), [...expected].sort(), row.id)
    }
  })

  it('has an example of each error under its status', () => {
    for (const row of rows) {
      for (const code of [...errorCodes(row), 'HEADERS_TOO_LARGE'] as const) {
        const { content } = described(row).responses[ERROR_STATUS[code]] ?? {}
        const example = content?.['application/json']?.examples?.[code]?.value
        assert.equal(v.parse(ApiErrorBody, example).error.code, code, row.id)
      }
    }
  })

  it('has a body if its contract row has a schema', () => {
    for (const row of rows) {
      const required = row.body === undefined ? undefined : row.body.isOptional !== true
      assert.equal(described(row).requestBody?.required, required, row.id)
      for (const [status, { schema, file }] of Object.entries(row.replies)) {
        const { content } = described(row).responses[status] ?? {}
        assert.equal(content !== undefined, (schema ?? file) != null, `${row.id} ${status}`)
      }
    }
  })

  it('lists X-Request-Id on every answer of an operation', () => {
    for (const row of rows) {
      for (const [status, { headers }] of Object.entries(described(row).responses)) {
        assert.ok('X-Request-Id' in headers, `${row.id} ${status}`)
      }
    }
  })

  it('lists the rate limit headers if it is limited, and Retry-After with 429', () => {
    for (const row of rows) {
      for (const [status, { headers }] of Object.entries(described(row).responses)) {
        const limited = row.limit !== 'none' && status !== '431'
        assert.equal('RateLimit' in headers, limited, `${row.id} ${status}`)
        assert.equal('RateLimit-Policy' in headers, limited, `${row.id} ${status}`)
        assert.equal('Retry-After' in headers, status === '429', `${row.id} ${status}`)
      }
    }
  })

  it('lists Content-Language where the language can be negotiated', () => {
    for (const row of rows) {
      const { responses } = described(row)
      for (const status of Object.keys(row.replies)) {
        const isNamed = 'Content-Language' in (responses[status]?.headers ?? {})
        assert.equal(isNamed, /^locate(Caller|Address|Batch)/.test(row.id), `${row.id} ${status}`)
      }
    }
  })

  it('requires a key or a session and names the scope unless it is public', () => {
    for (const row of rows) {
      const { security, description } = described(row)
      if (row.access === 'public') assert.deepEqual(security, [], row.id)
      else {
        assert.deepEqual(security, [{ apiKey: [] }, { basic: [] }, { session: [] }], row.id)
        assert.ok(description.includes(`\`${row.access}\``), row.id)
      }
    }
  })

  it('requires its path parameters', () => {
    for (const row of rows) {
      const inPath = described(row).parameters.filter((parameter) => parameter.in === 'path')
      const expected = Object.keys(row.params ?? {}).map((name) => [name, true])
      assert.deepEqual(
        inPath.map(({ name, required }) => [name, required]),
        expected,
      )
    }
  })

  it('accepts any text as X-Request-Id on every path', () => {
    for (const [path, { parameters }] of Object.entries(document.paths)) {
      const found = parameters.map(({ name, required, schema }) => [name, required, schema])
      assert.deepEqual(found, [['X-Request-Id', false, { type: 'string' }]], path)
    }
  })

  it('requires Origin for beacons and a signature for Stripe events; changes of keys may be repeated', () => {
    const headers = rows.flatMap((row) =>
      described(row)
        .parameters.filter((parameter) => parameter.in === 'header')
        .map(({ name, required }) => [row.id, name, required]),
    )
    assert.deepEqual(headers.sort(), [
      ...['createKey', 'createSite'].map((id) => [id, 'Idempotency-Key', false]),
      ['receiveStripeEvent', 'Stripe-Signature', true],
      ...['renewKey', 'rotateKey'].map((id) => [id, 'Idempotency-Key', false]),
      ['sendBeacon', 'Origin', true],
    ])
  })

  it('says which values of Idempotency-Key are refused', () => {
    const row = rows.find(({ id }) => id === 'createKey') ?? assert.fail()
    const header = described(row).parameters.find(({ name }) => name === 'Idempotency-Key')
    const pattern = new RegExp(String(header?.schema['pattern']))
    for (const [value, fits] of [
      ['a b~', true],
      ['é', false],
      ['a\tb', false],
      ['', false],
    ] as const)
      assert.equal(pattern.test(value), fits, value)
  })

  it('has the query parameters of the contract', () => {
    const audit = rows.find(({ id }) => id === 'listAuditLog')
    assert.ok(audit)
    const parameters = described(audit).parameters.map(({ name, required, schema }) => {
      return { name, required, ...schema }
    })
    const number = { required: false, type: 'integer' }
    const text = { required: false, type: 'string' }
    assert.deepEqual(parameters, [
      { name: 'limit', ...number, minimum: 1, maximum: 100, default: 50 },
      { name: 'offset', ...number, minimum: 0, maximum: 999_999_999, default: 0 },
      { name: 'action', ...text, maxLength: 100 },
      { name: 'search', ...text, maxLength: 200 },
    ])
    const names = rows.flatMap((row) => {
      const inQuery = described(row).parameters.filter((parameter) => parameter.in === 'query')
      const list = inQuery.map(({ name, required }) => (required ? name : `${name}?`)).join(' ')
      return list === '' ? [] : `${row.id}: ${list}`
    })
    assert.deepEqual(names, [
      'locateCaller: fields? include? lang?',
      'locateAddress: fields? include? lang?',
      'getAutonomousSystem: family? limit? offset?',
      'authorizeVisitor: allow? deny?',
      'createKey: expiresInDays?',
      'getUsageDetails: from? to? key? operation? by?',
      'listAuditLog: limit? offset? action? search?',
      'getSubscription: refresh?',
      'previewPlanChange: planId interval?',
      'getRumSummary: domain country? device? from? to?',
      'getRumOverview: domain country? device? from? to? series? path?',
    ])
  })
})
