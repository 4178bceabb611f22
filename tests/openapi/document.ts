import assert from 'node:assert/strict'
import * as v from 'valibot'
import type { Operation } from '../../lib/contract/operation.ts'
import { operations } from '../../lib/contract/operations.ts'
import { createOpenApi } from '../../lib/openapi/openapi.ts'
import { runAtOnce } from '../support/run-at-once.ts'

const Parameter = v.looseObject({
  name: v.string(),
  in: v.picklist(['path', 'query', 'header']),
  required: v.boolean(),
  description: v.pipe(v.string(), v.nonEmpty()),
  schema: v.looseObject({}),
})
const Media = v.looseObject({
  schema: v.looseObject({}),
  examples: v.optional(v.record(v.string(), v.looseObject({ value: v.unknown() }))),
})
const Answer = v.looseObject({
  description: v.pipe(v.string(), v.nonEmpty()),
  headers: v.optional(v.record(v.string(), v.looseObject({})), {}),
  content: v.optional(v.record(v.string(), Media)),
})
const Described = v.looseObject({
  operationId: v.string(),
  description: v.optional(v.string(), ''),
  security: v.array(v.record(v.string(), v.array(v.string()))),
  parameters: v.optional(v.array(Parameter), []),
  requestBody: v.optional(v.looseObject({ required: v.boolean() })),
  responses: v.record(v.string(), Answer),
})
const PathItem = v.objectWithRest({ parameters: v.array(Parameter) }, Described)
const Named = v.looseObject({
  properties: v.optional(v.record(v.string(), v.unknown()), {}),
  required: v.optional(v.array(v.string()), []),
})
const Document = v.looseObject({
  paths: v.record(v.string(), PathItem),
  components: v.looseObject({ schemas: v.record(v.string(), Named) }),
})

export const BASE_URL = 'https://geo.example'
export const rows: readonly Operation[] = operations
export const raw = runAtOnce(createOpenApi(BASE_URL))
export const document = v.parse(Document, inlined(raw))

/** The target of a reference. */
export function target(ref: string): unknown {
  assert.ok(ref.startsWith('#/'), ref)
  let node: unknown = raw
  for (const key of ref.slice(2).split('/')) {
    assert.ok(isObject(node) && Object.hasOwn(node, key), `${ref} leads nowhere`)
    node = node[key]
  }
  return node
}

export function isObject(node: unknown): node is Record<string, unknown> {
  return typeof node === 'object' && node !== null
}

/** Everything in the document, each with its key. */
export function* nodes(node: unknown): Generator<[key: string, value: unknown]> {
  if (!isObject(node)) return
  for (const [key, value] of Object.entries(node)) {
    yield [key, value]
    yield* nodes(value)
  }
}

/** A copy with every reference replaced by its target. */
function inlined(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(inlined)
  if (!isObject(node)) return node
  const { $ref } = node
  if (typeof $ref === 'string') return inlined(target($ref))
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, inlined(value)]))
}

export function described({ path, method }: Operation) {
  const operation = document.paths[path]?.[method]
  assert.ok(operation !== undefined && 'responses' in operation, `${method} ${path}`)
  return operation
}
