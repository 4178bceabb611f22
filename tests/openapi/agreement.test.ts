import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { toKeyAccess } from '../../lib/access/key-access.ts'
import { CreateKeyBody } from '../../lib/contract/account/account-schemas.ts'
import type { Operation } from '../../lib/contract/operation.ts'
import { operations } from '../../lib/contract/operations.ts'
import { Beacon } from '../../lib/contract/telemetry/telemetry-schemas.ts'
import { toSchema } from '../../lib/openapi/schemas.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import { parse } from '../../lib/parts/parse.ts'
import { keepBeacon } from '../../lib/rum/ingest/beacon.ts'
import { findErrors } from './json-schema.ts'

type Choices = Readonly<Record<string, readonly unknown[]>>

/** Every combination of one choice for each field; undefined omits the field. */
function bodies(choices: Choices): object[] {
  return Object.entries(choices).reduce<object[]>(
    (made, [field, values]) =>
      made.flatMap((body) =>
        values.map((value) => (value === undefined ? body : { ...body, [field]: value })),
      ),
    [{}],
  )
}

function isTaken(take: (body: object) => unknown, body: object): boolean {
  try {
    take(body)
    return true
  } catch (error) {
    assert.ok(error instanceof ApiError && error.code === 'BAD_REQUEST', String(error))
    return false
  }
}

/** Fails unless the schema in the document allows exactly the bodies that the API accepts. */
function checkAgreement(
  schema: v.GenericSchema,
  take: (body: object) => unknown,
  choices: Choices,
) {
  const errorsOf = findErrors(toSchema(schema))
  const verdicts = bodies(choices).map((body) => {
    return { body, taken: isTaken(take, body), allowed: errorsOf(body).length === 0 }
  })
  assert.ok(verdicts.some(({ taken }) => taken) && verdicts.some(({ taken }) => !taken))
  for (const { body, taken, allowed } of verdicts)
    assert.equal(taken, allowed, JSON.stringify(body))
}

const ORIGINS = ['https://shop.example', 'HTTPS://*.shop.example', 'x']

describe('the OpenAPI schema of a request body', () => {
  it('accepts exactly the key bodies that the API accepts', () => {
    const take = (body: object) => toKeyAccess(parse(CreateKeyBody, body))
    checkAgreement(CreateKeyBody, take, {
      name: [undefined, '', ' ', 'a', 'key \u{1f511}', 'a\nb', 'a\u0085b', 'x'.repeat(101), 1],
      type: [undefined, 'secret', 'publishable', 'other'],
      scopes: [undefined, null, [], ['geo:read'], ['location:read'], ['account:read'], ['other']],
      allowedOrigins: [undefined, null, [], ...ORIGINS.map((origin) => [origin])],
      other: [undefined, 1],
    })
  })

  it('accepts exactly the beacons that the API accepts', () => {
    checkAgreement(Beacon, (body) => keepBeacon(parse(Beacon, body)), {
      path: [undefined, '/a', '/a?b', `/${'a'.repeat(500)}`],
      metrics: [undefined, {}, { lcp: 1 }, { cls: 0, other: 'x' }, { other: 1 }, { lcp: '1' }, []],
      errors: [undefined, [], [{ message: 'x' }], [{}], Array(11).fill({ message: 'x' })],
      other: [undefined, 1],
    })
  })

  it('counts characters as the API does: code points, not UTF-16 units', () => {
    const fields = rows.flatMap(({ body, query }) => [
      ...limitedTexts(body?.schema),
      ...limitedTexts(query),
    ])
    assert.ok(fields.length > 10)
    for (const [schema, most] of fields) {
      for (const character of ['x', '\u{1f511}']) {
        const accepted = [most, most + 1].map((length) => v.is(schema, character.repeat(length)))
        assert.deepEqual(accepted, [true, false], `${most} ${character}`)
      }
    }
  })
})

const rows: readonly Operation[] = operations

/** Fields with a maximum length that allow any character, with their limits. */
function limitedTexts(object: v.GenericSchema = v.unknown()) {
  const { entries } = v.parse(WithEntries, object)
  return Object.values(entries).flatMap((schema) => {
    const described = toSchema(schema)
    const most = described.maxLength
    if (most === undefined) return []
    const errorsOf = findErrors(described)
    return errorsOf('\u{1f511}'.repeat(most)).length === 0 ? [[schema, most] as const] : []
  })
}

const Field = v.custom<v.GenericSchema>((field) => v.is(v.looseObject({ type: v.string() }), field))
const WithEntries = v.looseObject({ entries: v.optional(v.record(v.string(), Field), {}) })
