import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { GenericSchema } from 'valibot'
import { toKeyAccess } from '../../lib/access/key-access.ts'
import { CreateKeyBody } from '../../lib/contract/account-schemas.ts'
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
function checkAgreement(schema: GenericSchema, take: (body: object) => unknown, choices: Choices) {
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
})
