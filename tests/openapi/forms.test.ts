import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formsOf, type Operation } from '../../lib/contract/operation.ts'
import { operations } from '../../lib/contract/operations.ts'
import { createOpenApi } from '../../lib/openapi/openapi.ts'
import { runAtOnce } from '../support/run-at-once.ts'

const rows: readonly Operation[] = operations
const document = runAtOnce(createOpenApi('https://geo.example'))

describe('the OpenAPI document', () => {
  it('has an example of each form that an answer may have besides JSON', () => {
    assert.ok(rows.some((row) => formsOf(row).length > 1))
    for (const { method, path, replies } of rows) {
      for (const [status, { otherForms = {} }] of Object.entries(replies)) {
        const content = Object.fromEntries(
          Object.entries(otherForms).map(([form, example]) => [
            form,
            { schema: { type: 'string' }, example },
          ]),
        )
        const responses = { [status]: Object.keys(content).length === 0 ? {} : { content } }
        assert.partialDeepStrictEqual(document, { paths: { [path]: { [method]: { responses } } } })
      }
    }
  })
})
