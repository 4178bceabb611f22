import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { toKeyAccess } from '../../lib/access/key-access.ts'
import { CreateKeyBody } from '../../lib/contract/account-schemas.ts'
import type { Operation } from '../../lib/contract/operation.ts'
import { operations } from '../../lib/contract/operations.ts'
import { Beacon } from '../../lib/contract/telemetry-schemas.ts'
import { ApiError } from '../../lib/errors.ts'
import { toSchema } from '../../lib/openapi-schemas.ts'
import { parse } from '../../lib/parse.ts'
import { keepBeacon } from '../../lib/rum/beacon.ts'
import { findErrors } from '../json-schema.ts'

type Choices = Readonly<Record<string, readonly unknown[]>>

/** Every body that takes one choice for each field; undefined leaves the field out. */
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

/** Fails unless the described schema allows the bodies that are taken, and no others. */
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
  assert.deepEqual(
    verdicts.filter(({ taken, allowed }) => taken !== allowed),
    [],
  )
}

describe('the description of a body', () => {
  it('allows the keys that can be made, and no others', () => {
    const take = (body: object) => toKeyAccess(parse(CreateKeyBody, body))
    checkAgreement(CreateKeyBody, take, {
      name: [undefined, '', ' ', 'a', 'key \u{1f511}', 'a\nb', 'a\u0085b', 'x'.repeat(101), 1],
      type: [undefined, 'secret', 'publishable', 'other'],
      scopes: [undefined, [], ['geo:read'], ['location:read'], ['account:read'], ['other']],
      allowedOrigins: [undefined, [], ['https://shop.example'], ['HTTPS://*.shop.example'], ['x']],
      other: [undefined, 1],
    })
  })

  it('allows the beacons that are stored, and no others', () => {
    checkAgreement(Beacon, (body) => keepBeacon(parse(Beacon, body)), {
      path: [undefined, '/a', '/a?b', `/${'a'.repeat(500)}`],
      metrics: [undefined, {}, { lcp: 1 }, { cls: 0, other: 'x' }, { other: 1 }, { lcp: '1' }, []],
      errors: [undefined, [], [{ message: 'x' }], [{}], Array(11).fill({ message: 'x' })],
      other: [undefined, 1],
    })
  })

  it('counts characters, of which one may be two units of UTF-16, as it is counted here', () => {
    const fields = rows.flatMap(({ body, query }) => [
      ...limitedTexts(body?.schema),
      ...limitedTexts(query),
    ])
    assert.ok(fields.length > 10)
    for (const [schema, most] of fields) {
      for (const character of ['x', '\u{1f511}']) {
        assert.equal(v.is(schema, character.repeat(most)), true, `${most} ${character}`)
        assert.equal(
          v.is(schema, character.repeat(most + 1)),
          false,
          `${most} ${character} and one`,
        )
      }
    }
  })
})

const rows: readonly Operation[] = operations

/** The fields of an object that are texts of a limited length and any characters, with the limits. */
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
