import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createOpenApi } from '../../lib/openapi/openapi.ts'
import { runAtOnce } from '../support/run-at-once.ts'

describe('The OpenAPI document', () => {
  it('promises a whole GeolocationResult for look-ups, whatever `fields` selects', () => {
    const document = runAtOnce(createOpenApi('https://geo.example'))
    for (const path of ['/v1/ip/me', '/v1/ip/{ipAddress}'] as const) {
      for (const status of ['200', '404']) {
        const schema = { $ref: '#/components/schemas/GeolocationResult' }
        const reply = { content: { 'application/json': { schema } } }
        const get = { responses: { [status]: reply } }
        assert.partialDeepStrictEqual(document, { paths: { [path]: { get } } })
      }
    }
  })
})
