import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createOpenApi } from '../../lib/openapi/openapi.ts'
import { runAtOnce } from '../support/run-at-once.ts'
import { findErrors } from './json-schema.ts'

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
    const wrong = all.map(({ where, schema, value }) => [where, ...findErrors(schema)(value)])
    assert.deepEqual(
      wrong.filter((errors) => errors.length > 1),
      [],
    )
  })

  it('exist for every body and answer with a schema', () => {
    const places = new Set(all.map(({ where }) => where.split(' ')[0]))
    assert.ok(places.has('/paths//v1/account/me/keys/post/requestBody/content/application/json'))
    const bodies = [...schemas(document)].filter((where) => where.endsWith('application/json'))
    assert.ok(bodies.length > 60)
    assert.deepEqual(
      bodies.filter((where) => !places.has(where)),
      [],
    )
  })
})

describe('the named schemas of the OpenAPI document', () => {
  it('have descriptions', () => {
    const silent = Object.entries(component('schemas')).filter(
      ([, schema]) => !isNode(schema) || (schema['description'] ?? '') === '',
    )
    assert.deepEqual(
      silent.map(([name]) => name),
      [],
    )
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
