import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Operation } from '../../lib/contract/operation.ts'
import { operations } from '../../lib/contract/operations.ts'
import { UNFINISHED } from '../../routes/unfinished.ts'
import { codeOf, makeApp, type SendOptions, type TestApp } from '../helpers.ts'

let app: TestApp
let key: string
let publishable: string
before(async () => {
  app = await makeApp()
  key = await app.makeKey()
  publishable = await app.makeKey({ type: 'publishable', origins: ['https://app.example'] })
})
after(() => app.close())

const rows: readonly Operation[] = operations
const paths = [...new Set(rows.map(({ path }) => path))]
const isUnfinished = ({ id }: Operation) => UNFINISHED.some((unfinished) => unfinished === id)

/** A request of the operation that is right in all but the credential. */
function ask(row: Operation, options: SendOptions = {}) {
  const method = row.method.toUpperCase()
  const body = row.body === undefined ? {} : { body: row.body.example }
  return app.send(method, `${filled(row)}${queryOf(row)}`, { ...body, ...options })
}

function filled({ path }: Pick<Operation, 'path'>): string {
  return path.replace('{ipAddress}', '81.2.69.160').replaceAll(/\{\w+\}/g, 'some')
}

const QUERIES: Readonly<Record<string, string>> = {
  previewPlanChange: '?planId=pro',
  getRumSummary: '?domain=app.example',
}

function queryOf({ id }: Operation): string {
  return QUERIES[id] ?? ''
}

/** What the operation answers to the first request: the caller has nothing yet that is called `some`. */
function firstStatus(row: Operation): number {
  if (filled(row).includes('/some')) return 404
  return Math.min(...Object.keys(row.replies).map(Number))
}

describe('every operation', () => {
  it('that is not public answers 401 without a key, but for the one that the contract names', async () => {
    for (const row of rows.filter(({ access }) => access !== 'public')) {
      const expected = row.id === 'getCallerTimezone' ? 'ANONYMOUS_ACCESS' : 'UNAUTHORIZED'
      assert.equal(codeOf(await ask(row)), expected, row.id)
    }
  })

  it('that is not public answers 401 with a wrong key', async () => {
    for (const row of rows.filter(({ access }) => access !== 'public')) {
      assert.equal(codeOf(await ask(row, { key: 'wrong' })), 'UNAUTHORIZED', row.id)
    }
  })

  it('that is public answers without a key', async () => {
    for (const row of rows.filter(({ access }) => access === 'public')) {
      assert.equal((await ask(row)).status, isUnfinished(row) ? 501 : 200, row.id)
    }
  })

  it('works with a valid key, or is listed as unfinished and answers 501', async () => {
    for (const row of rows) {
      const answer = await ask(row, { key, from: '81.2.69.160' })
      if (isUnfinished(row)) assert.equal(codeOf(answer), 'NOT_IMPLEMENTED', row.id)
      else assert.equal(answer.status, firstStatus(row), row.id)
    }
  })

  it('is open to a publishable key only for look-ups', async () => {
    const headers = { origin: 'https://app.example' }
    for (const row of rows.filter(({ access }) => access !== 'public')) {
      const answer = await ask(row, { key: publishable, headers, from: '81.2.69.160' })
      if (row.access === 'geo:read') assert.equal(answer.status, 200, row.id)
      else assert.equal(codeOf(answer), 'INSUFFICIENT_SCOPE', row.id)
    }
  })

  it('is open to a key with its scope alone, and closed to one with all others', async () => {
    const scopes = [...new Set(rows.map(({ access }) => access))].filter((a) => a !== 'public')
    for (const scope of scopes) {
      const alone = await app.makeKey({ scopes: [scope] })
      const others = await app.makeKey({ scopes: scopes.filter((other) => other !== scope) })
      for (const row of rows.filter(({ access }) => access === scope)) {
        const from = '81.2.69.160'
        assert.notEqual((await ask(row, { key: alone, from })).status, 403, row.id)
        assert.equal(codeOf(await ask(row, { key: others, from })), 'INSUFFICIENT_SCOPE', row.id)
      }
    }
  })

  it('answers HEAD as GET, with the same headers and no body', async () => {
    for (const row of rows.filter(({ method }) => method === 'get')) {
      const headers = { 'x-request-id': '6f6b1d3e-56c6-4a08-8a0c-9d3a6a3a5a01' }
      const path = `${filled(row)}${queryOf(row)}`
      const [got, head] = await Promise.all(
        ['GET', 'HEAD'].map((method) => app.send(method, path, { key, headers })),
      )
      assert.equal(head?.status, got?.status, row.id)
      assert.deepEqual([...(head?.headers ?? [])], [...(got?.headers ?? [])], row.id)
    }
  })
})

describe('every path', () => {
  it('answers 405 to the methods that it does not have, with Allow', async () => {
    for (const path of paths) {
      const own = rows.filter((row) => row.path === path).map(({ method }) => method.toUpperCase())
      const allowed = [...own, ...(own.includes('GET') ? ['HEAD'] : []), 'OPTIONS']
      const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'get-all']
      for (const method of methods.filter((name) => !allowed.includes(name))) {
        const { status, headers } = await app.send(method, filled({ path }), { key })
        assert.equal(status, 405, `${method} ${path}`)
        const allow = headers.get('allow')?.split(', ').toSorted()
        assert.deepEqual(allow, allowed.toSorted(), `${method} ${path}`)
      }
    }
  })

  it('answers OPTIONS without a key, with Allow', async () => {
    for (const path of paths) {
      const { status, headers } = await app.send('OPTIONS', filled({ path }))
      assert.equal(status, 204)
      assert.match(headers.get('allow') ?? '', /OPTIONS$/)
    }
  })

  it('is known by its one spelling alone', async () => {
    const others = [
      '/',
      '/v2',
      '/v1/',
      '/V1',
      '/v1/IP/me',
      '/v1/ip/me/',
      '//v1/ip/me',
      '/v1//ip/me',
      '/v1/ip/',
      '/v1/ip',
      '/v1/ip/1.2.3.4/',
      '/v1/ip/1.2.3.4/timezone/',
      '/v1/ip/1.2.3.4/Timezone',
      '/v1%2Fip%2Fme',
      '/v1/ip/..%2f..%2fhealth/x/y',
      '/v1/ip/%2e%2e/%2e%2e/%2e%2e/etc/passwd',
      '/health.json',
      '/xwell-known/openapi.json',
      '/.well-known/openapiXjson',
      '/favicon.ico',
    ]
    for (const path of others) {
      const { status, body } = await app.send('GET', path, { key })
      assert.equal(status, 404, path)
      assert.equal(codeOf({ body }), 'NOT_FOUND', path)
    }
  })
})
