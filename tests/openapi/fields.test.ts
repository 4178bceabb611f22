import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { CreateKeyBody } from '../../lib/contract/account/account-schemas.ts'
import { BatchBody } from '../../lib/contract/geo/batch.ts'
import { GeolocationResult } from '../../lib/contract/geo/geolocation.ts'
import type { Operation } from '../../lib/contract/operation.ts'
import { operations } from '../../lib/contract/operations.ts'
import { createFieldReader, type Field, type Shape } from '../../lib/openapi/fields.ts'
import { namedSchemas, toSchema } from '../../lib/openapi/schemas.ts'
import { runAtOnce } from '../support/run-at-once.ts'

const reader = createFieldReader(runAtOnce(namedSchemas()))
const rows: readonly Operation[] = operations

function fieldsOf(schema: v.GenericSchema): readonly Field[] {
  const [shape] = reader.shapesOf(toSchema(schema))
  return shape?.fields ?? []
}

function find(schema: v.GenericSchema, name: string): Field {
  const field = fieldsOf(schema).find((candidate) => candidate.name === name)
  assert.ok(field, name)
  return field
}

function allFields({ fields }: Shape): Field[] {
  return fields.flatMap((field) => [field, ...field.shapes.flatMap(allFields)])
}

/** Every field of bodies, queries and answers, in the words of the reference. */
function* fieldsWithin(path: string, { name, fields }: Shape): Generator<readonly [string, Field]> {
  for (const field of fields) {
    const inner = `${name || path}.${field.name}`
    yield [inner, field]
    for (const shape of field.shapes) yield* fieldsWithin(inner, shape)
  }
}

function schemasOf({ body, query, replies }: Operation): v.GenericSchema[] {
  return [
    ...(body === undefined ? [] : [body.schema]),
    ...(query === undefined ? [] : [query]),
    ...Object.values(replies).flatMap(({ schema }) => schema ?? []),
  ]
}

describe('the fields of a schema', () => {
  it('have types in words', () => {
    const schema = v.object({
      a: v.string(),
      b: v.nullable(v.pipe(v.string(), v.isoTimestamp())),
      c: v.array(v.pipe(v.number(), v.integer())),
      d: v.array(v.array(v.boolean())),
      e: v.union([v.pipe(v.string(), v.ipv4()), v.pipe(v.string(), v.ipv6()), v.string()]),
      f: v.nullable(v.object({ inner: v.number() })),
      g: v.union([v.literal(''), v.pipe(v.string(), v.url())]),
      h: v.union([v.string(), v.union([v.number(), v.string()])]),
    })
    assert.deepEqual(Object.fromEntries(fieldsOf(schema).map(({ name, type }) => [name, type])), {
      a: 'text',
      b: 'time in ISO 8601 or null',
      c: 'list of whole numbers',
      d: 'list of lists of true or false',
      e: 'IPv4 address or IPv6 address or text',
      f: 'object or null',
      g: 'text or URL',
      h: 'text or number',
    })
  })

  it('say whether they are required, with their limits, default and values', () => {
    const name = find(CreateKeyBody, 'name')
    assert.deepEqual([name.isRequired, name.rules], [true, ['at most 100 characters']])
    const type = find(CreateKeyBody, 'type')
    assert.deepEqual([type.isRequired, type.rules], [false, ['default: secret']])
    assert.deepEqual(type.values, ['secret', 'publishable'])
    const batch = fieldsOf(BatchBody).map(({ name: field, rules }) => [field, ...rules])
    assert.deepEqual(batch[0], ['ips', '1 to 1,000 entries'])
    assert.deepEqual(batch[1], ['fields', 'not empty'])
    const scopes = find(CreateKeyBody, 'scopes')
    assert.equal(scopes.type, 'list of texts or null')
    assert.deepEqual(scopes.rules, ['1 to 6 entries'])
    assert.ok(scopes.values.includes('geo:read'))
  })

  it('have the fields of the objects in them, by the name of the schema', () => {
    const [location, ...others] = find(GeolocationResult, 'location').shapes
    assert.equal(location?.name, 'Location')
    assert.deepEqual(others, [])
    const continent = location?.fields.find(({ name }) => name === 'continent')
    const names = continent?.shapes[0]?.fields.map((field) => field.name)
    assert.deepEqual(names, ['code', 'name'])
  })

  it('are read of every body, query and answer, with no type left unnamed', () => {
    const types = rows.flatMap(schemasOf).flatMap((schema) => {
      const described = toSchema(schema)
      const inner = reader.shapesOf(described).flatMap(allFields)
      return [reader.typeOf(described), ...inner.map(({ type }) => type)]
    })
    assert.ok(types.length > 500)
    for (const type of types) assert.doesNotMatch(type, /any value|[|<>{}]/)
  })

  it('are all described, and those that may be null say what null means', () => {
    const shapes = rows.flatMap((row) =>
      schemasOf(row).flatMap((schema) =>
        reader.shapesOf(toSchema(schema)).map((shape) => [row.id, shape] as const),
      ),
    )
    const fields = new Map(shapes.flatMap(([id, shape]) => [...fieldsWithin(id, shape)]))
    assert.ok(fields.size > 400)
    const isTold = ({ type, description }: Field) =>
      type.endsWith(' or null') ? /null/i.test(description) : description !== ''
    assert.deepEqual(
      [...fields].filter(([, field]) => !isTold(field)).map(([path]) => path),
      [],
    )
  })
})
