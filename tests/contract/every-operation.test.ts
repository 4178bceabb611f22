import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Operation } from '../../lib/contract/operation.ts'
import { operations } from '../../lib/contract/operations.ts'
import { examplePath } from '../support/example-path.ts'
import { codeOf, steadyHeaders } from '../support/helpers.ts'
import { sharedScene } from '../support/scene/scene.ts'
import { words } from '../support/words.ts'

let key: string
const app = sharedScene({}, async () => {
  key = await ada.key()
})
const ada = app.user('ada')

const rows: readonly Operation[] = operations
const paths = [...new Set(rows.map(({ path }) => path))]

const QUERIES: Readonly<Record<string, string>> = {
  previewPlanChange: '?planId=pro',
  getRumSummary: '?domain=app.example',
  getRumOverview: '?domain=app.example',
}

describe('every operation', () => {
  it('answers HEAD like GET, with the same headers and no body', async () => {
    for (const row of rows.filter(({ method }) => method === 'get')) {
      const headers = { 'x-request-id': '6f6b1d3e-56c6-4a08-8a0c-9d3a6a3a5a01' }
      const path = `${examplePath(row)}${QUERIES[row.id] ?? ''}`
      const [got, head] = await Promise.all(
        ['GET', 'HEAD'].map((method) => app.send(method, path, { key, headers })),
      )
      assert.equal(head?.status, got?.status, row.id)
      assert.ok(got && head)
      assert.deepEqual(steadyHeaders(head), steadyHeaders(got), row.id)
    }
  })
})

/** As paths of GET they match `/v1/ip/{ipAddress}`, with `batch` or `summary` as an invalid address. */
const LISTS: readonly string[] = ['/v1/ip/batch', '/v1/ip/summary']

function isAt(row: Operation, path: string): boolean {
  return row.path === path || (LISTS.includes(path) && row.path === '/v1/ip/{ipAddress}')
}

/** `Allow` names the methods that the description has for the path itself. */
function namedIn(path: string, allowed: readonly string[]): readonly string[] {
  return LISTS.includes(path) ? ['POST', 'OPTIONS'] : allowed
}

describe('every path', () => {
  it('answers unsupported methods with 405 and Allow', async () => {
    for (const path of paths) {
      const own = rows.filter((row) => isAt(row, path)).map(({ method }) => method.toUpperCase())
      const allowed = [...own, ...(own.includes('GET') ? ['HEAD'] : []), 'OPTIONS']
      const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'get-all']
      for (const method of methods.filter((name) => !allowed.includes(name))) {
        const { status, headers } = await ada.send(method, examplePath({ path }))
        assert.equal(status, 405, `${method} ${path}`)
        const allow = headers.get('allow')?.split(', ').toSorted()
        assert.deepEqual(allow, namedIn(path, allowed).toSorted(), `${method} ${path}`)
      }
    }
  })

  it('answers OPTIONS with Allow, without a key', async () => {
    for (const path of paths) {
      const { status, headers } = await app.send('OPTIONS', examplePath({ path }))
      assert.equal(status, 204)
      assert.match(headers.get('allow') ?? '', /OPTIONS$/)
    }
  })

  it('is reachable under one spelling only, and with a slash at its end', async () => {
    for (const path of [
      '/v1/',
      '/v1/ip/81.2.69.160/timezone/',
      '/v1/ip/81.2.69.160/',
      '/v1/account/me/?a=b',
    ])
      assert.equal((await ada.send('GET', path)).status, 200, path)
    const others = words(`
      /v2 /v1// /V1 /v1/IP/me /v1/ip/me// //v1/ip/me /v1//ip/me /v1/ip/ /v1/ip
      /v1/ip/1.2.3.4/Timezone /v1%2Fip%2Fme /v1/ip/..%2f..%2fhealth/x/y
      /v1/ip/%2e%2e/%2e%2e/%2e%2e/etc/passwd /health.json /xwell-known/openapi.json
      /.well-known/openapiXjson /.well-known/security.txt`)
    for (const path of others) {
      const { status, body } = await ada.send('GET', path)
      assert.equal(status, 404, path)
      assert.equal(codeOf({ body }), 'NOT_FOUND', path)
    }
  })
})
