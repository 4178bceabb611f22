import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { ApiErrorBody } from '../../lib/contract/common.ts'
import { operations } from '../../lib/contract/operations.ts'
import { examplePath } from '../support/example-path.ts'
import { sharedScene } from '../support/scene/scene.ts'

let key: string
const app = sharedScene({}, async () => {
  key = await app.makeKey()
})

async function errorOf(method: string, path: string, body?: unknown) {
  const answer = await app.send(method, path, { key, body })
  return v.parse(ApiErrorBody, answer.body).error
}

/** What is wrong, and the field that the error names: `param` in Stripe's errors (https://docs.stripe.com/api/errors). */
const WRONG: readonly (readonly [what: string, field: string | undefined, body?: unknown])[] = [
  ['GET /v1/ip/nowhere', 'ipAddress'],
  ['GET /v1/ip/nowhere/timezone', 'ipAddress'],
  ['GET /v1/asn/nothing', 'asn'],
  ['GET /v1/asn/AS1?limit=many', 'limit'],
  ['GET /v1/asn/AS1?limt=1', 'limt'],
  ['GET /v1/ip/8.8.8.8?lang=de&lang=en', 'lang'],
  ['GET /v1/ip/8.8.8.8?inlcude=network', 'inlcude'],
  ['GET /v1/forward-auth?allow=QQ', 'allow'],
  ['GET /v1/account/me/usage/details?from=2026-02-30', 'from'],
  ['POST /v1/ip/batch', 'ips.1', { ips: ['8.8.8.8', 8] }],
  ['POST /v1/ip/batch', 'ips', {}],
  ['POST /v1/ip/batch', 'field', { ips: ['8.8.8.8'], field: [] }],
  ['POST /v1/account/me/keys', 'scopes.0', { name: 'x', scopes: ['geo:write'] }],
  ['POST /v1/account/me/keys', 'allowedOrigins', { name: 'x', type: 'publishable' }],
  ['POST /v1/account/me/sites', 'name', { name: 'shop' }],
  ['POST /v1/ip/batch', undefined, '{'],
  ['GET /v1/account/me/sites/unknown/proof', undefined],
]

describe('an error', () => {
  for (const [what, field, body] of WRONG) {
    it(`of ${what} with ${JSON.stringify(body)} names ${field}`, async () => {
      const [method = '', path = ''] = what.split(' ')
      assert.equal((await errorOf(method, path, body)).field, field)
    })
  }

  it('of each operation leads to its page in the reference', async () => {
    for (const row of operations) {
      if (row.access === 'public') continue
      const { body } = await app.send(row.method.toUpperCase(), examplePath(row))
      const { documentation = '' } = v.parse(ApiErrorBody, body).error
      assert.equal(documentation, `http://127.0.0.1:8787/docs/operations/${row.id}`)
      const page = await app.app.fetch(new Request(documentation), {
        remoteAddress: '198.51.100.1',
      })
      assert.equal(page.status, 200, documentation)
    }
  })

  it('of no operation leads to the guide about errors', async () => {
    const { documentation, field } = await errorOf('GET', '/v1/nothing')
    assert.deepEqual(
      [documentation, field],
      ['http://127.0.0.1:8787/docs/guides/errors', undefined],
    )
  })
})
