import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import type { Operation, Reply } from '../../lib/contract/operation.ts'
import { operations } from '../../lib/contract/operations.ts'
import { createOpenApi } from '../../lib/openapi/openapi.ts'
import { toSchema } from '../../lib/openapi/schemas.ts'
import { runAtOnce } from '../support/run-at-once.ts'

const rows: readonly Operation[] = operations

const Links = v.record(
  v.string(),
  v.strictObject({
    operationId: v.string(),
    parameters: v.record(v.string(), v.pipe(v.string(), v.startsWith('$response.body#/'))),
    description: v.pipe(v.string(), v.nonEmpty()),
  }),
)
const Responses = v.record(v.string(), v.looseObject({ links: v.optional(Links, {}) }))
const Described = v.looseObject({ responses: v.optional(Responses, {}) })
const Document = v.looseObject({ paths: v.record(v.string(), v.record(v.string(), Described)) })
const { paths } = v.parse(Document, runAtOnce(createOpenApi('https://geo.example')))

interface Link {
  readonly from: string
  readonly to: string
  readonly reply: Reply
  readonly parameters: Readonly<Record<string, string>>
}

const links = rows.flatMap((row) =>
  Object.entries(row.replies).flatMap(([status, reply]) => {
    const described = paths[row.path]?.[row.method]?.responses[status]?.links ?? {}
    return Object.values(described).map(({ operationId: to, parameters }): Link => {
      return { from: row.id, to, reply, parameters }
    })
  }),
)

/** The value of an expression such as `$response.body#/id` in the example of the answer. */
function follow({ reply: { example } }: Link, expression: string): unknown {
  assert.ok(typeof example === 'object' && example !== null)
  return new Map(Object.entries(example)).get(expression.replace('$response.body#/', ''))
}

function parametersOf(row: Operation): string[] {
  const inQuery = row.query === undefined ? {} : (toSchema(row.query).properties ?? {})
  return [...Object.keys(row.params ?? {}), ...Object.keys(inQuery)]
}

describe('the links of the OpenAPI document', () => {
  it('lead from operations that create something to operations that use it', () => {
    const found = new Set(links.map(({ from, to }) => `${from} ${to}`))
    const published = [
      'addTaxId deleteTaxId',
      'createKey renewKey',
      'createKey revokeKey',
      'createSite checkSiteProof',
      'createSite deleteSite',
      'createSite getRumOverview',
      'createSite getRumSummary',
      'createSite getSiteProof',
    ]
    for (const link of published) assert.ok(found.has(link), link)
  })

  it('name existing operations and parameters', () => {
    for (const { from, to, parameters } of links) {
      const row = rows.find(({ id }) => id === to)
      assert.ok(row, `${from} leads to ${to}`)
      for (const name of Object.keys(parameters)) {
        assert.ok(parametersOf(row).includes(name), `${from} gives ${name} to ${to}`)
      }
    }
  })

  it('read their values from existing fields of the answer', () => {
    for (const link of links) {
      for (const expression of Object.values(link.parameters)) {
        assert.equal(typeof follow(link, expression), 'string', `${link.from} to ${link.to}`)
      }
    }
  })
})
