import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formsOf, type Operation } from '../../lib/contract/operation.ts'
import { operations } from '../../lib/contract/operations.ts'
import { createOpenApi } from '../../lib/openapi/openapi.ts'
import { runAtOnce } from '../support/run-at-once.ts'
import { findErrors } from './json-schema.ts'

const rows: readonly Operation[] = operations
const document = runAtOnce(createOpenApi('https://geo.example'))

type Node = Readonly<Record<string, unknown>>

interface Example {
  /** Its place in the document. */
  readonly where: string
  readonly schema: Node
  readonly value: unknown
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null
}

/** Every example in the document, with its schema. */
function* examples(node: unknown, where = ''): Generator<Example> {
  if (!isNode(node)) return
  if (isNode(node['schema'])) yield* examplesOf(node, node['schema'], where)
  if (Array.isArray(node['examples'])) {
    for (const value of node['examples']) yield { where, schema: node, value }
  }
  for (const [key, child] of Object.entries(node)) {
    if (key !== 'example' && key !== 'value') yield* examples(child, `${where}/${key}`)
  }
}

/** The examples of a parameter, a header or a body. */
function* examplesOf(node: Node, schema: Node, where: string): Generator<Example> {
  if ('example' in node) yield { where, schema, value: node['example'] }
  if (!isNode(node['examples'])) return
  for (const [name, example] of Object.entries(node['examples'])) {
    yield { where: `${where} ${name}`, schema, value: exampleOf(example) }
  }
}

function exampleOf(example: unknown): unknown {
  assert.ok(isNode(example))
  const { $ref, value } = example
  if (typeof $ref !== 'string') return value
  return exampleOf(component('examples')[$ref.replace('#/components/examples/', '')])
}

function component(kind: string): Node {
  const { components } = document
  assert.ok(isNode(components) && isNode(components[kind]))
  return components[kind]
}

describe('the examples of the OpenAPI document', () => {
  const all = [...examples(document)]

  it('match their schemas according to ajv', () => {
    for (const { where, schema, value } of all)
      assert.deepEqual(findErrors(schema)(value), [], where)
  })

  it('exist for every body and answer with a schema', () => {
    const places = new Set(all.map(({ where }) => where.split(' ')[0]))
    assert.ok(places.has('/paths//v1/account/me/keys/post/requestBody/content/application/json'))
    const bodies = [...schemas(document)].filter((where) => where.endsWith('application/json'))
    assert.ok(bodies.length > 60)
    for (const where of bodies) assert.ok(places.has(where), where)
  })
})

describe('the named schemas of the OpenAPI document', () => {
  it('have descriptions', () => {
    for (const [name, schema] of Object.entries(component('schemas'))) {
      assert.ok(isNode(schema) && (schema['description'] ?? '') !== '', name)
    }
  })
})

/** The places of parameters, headers and bodies with schemas. */
function* schemas(node: unknown, where = ''): Generator<string> {
  if (!isNode(node)) return
  if ('schema' in node) yield where
  for (const [key, child] of Object.entries(node)) {
    if (key !== 'example' && key !== 'value') yield* schemas(child, `${where}/${key}`)
  }
}

describe('the OpenAPI document', () => {
  it('has an example of each form that an answer may have besides JSON', () => {
    assert.ok(rows.some((row) => formsOf(row).length > 1))
    for (const { method, path, replies } of rows) {
      for (const [status, { otherForms = {} }] of Object.entries(replies)) {
        const forms = Object.entries(otherForms).map(([form, example]) => {
          return [form, { schema: { type: 'string' }, example }]
        })
        const responses = {
          [status]: forms.length > 0 ? { content: Object.fromEntries(forms) } : {},
        }
        assert.partialDeepStrictEqual(document, { paths: { [path]: { [method]: { responses } } } })
      }
    }
  })
})

describe('The OpenAPI document', () => {
  it('promises a whole GeolocationResult for look-ups, whatever `fields` selects', () => {
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
