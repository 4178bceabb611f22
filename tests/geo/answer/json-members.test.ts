import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { eachMember, mapMembers } from '../../../lib/geo/answer/json-members.ts'
import { createSelect } from '../../../lib/geo/answer/select-fields.ts'

/** Texts full of what JSON escapes, and of what stands between its members. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom(...'\\"{}[],:a') }),
)
const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(true, false, null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.stringMatching(/^[a-zA-Z]{1,3}$/), tie('value'), { maxKeys: 4 }),
  ),
})).value
const object = fc.dictionary(fc.stringMatching(/^[a-zA-Z]{1,3}$/), value, { maxKeys: 6 })

describe('eachMember', () => {
  it('finds the members that JSON.parse finds', () => {
    fc.assert(
      fc.property(object, (object) => {
        const json = JSON.stringify(object)
        const found: [string, unknown][] = []
        eachMember(json, 0, (name, start, end) =>
          found.push([JSON.parse(json.slice(name, start - 1)), JSON.parse(json.slice(start, end))]),
        )
        assert.deepEqual(found, Object.entries(JSON.parse(json)))
      }),
    )
  })
})

describe('mapMembers', () => {
  it('replaces some values, and keeps everything else as it is', () => {
    fc.assert(
      fc.property(object, fc.func(fc.boolean()), (object, isReplaced) => {
        const json = JSON.stringify(object)
        const mapped = mapMembers(json, (name, value) => (isReplaced(name) ? `[${value}]` : value))
        const expected = Object.entries(object).map(([name, value]) => [
          name,
          isReplaced(name) ? [value] : value,
        ])
        assert.equal(mapped, JSON.stringify(Object.fromEntries(expected)))
      }),
    )
  })
})

describe('createSelect', () => {
  const RESULT = JSON.stringify({
    query: { type: 'ip', value: '"},{"location":"' },
    location: { country: { code: 'GB', name: '\\' }, city: 'Tórshavn' },
    meta: { precision: 'city', degraded: true },
  })
  const selections: readonly (readonly [
    fields: readonly string[],
    degraded: boolean,
    json: string,
  ])[] = [
    [
      ['location.city', 'query.type'],
      false,
      '{"location":{"city":"Tórshavn"},"query":{"type":"ip"}}',
    ],
    [
      ['location.country', 'location.country.code'],
      false,
      '{"location":{"country":{"code":"GB","name":"\\\\"}}}',
    ],
    [
      ['location.country.name', 'location.country.code'],
      false,
      '{"location":{"country":{"name":"\\\\","code":"GB"}}}',
    ],
    [['network', 'location.region.code', 'location.cit'], false, '{}'],
    [['location.region'], true, '{"meta":{"degraded":true}}'],
    [['meta'], true, '{"meta":{"precision":"city","degraded":true}}'],
  ]
  for (const [fields, degraded, json] of selections) {
    it(`keeps ${fields.join(', ')}${degraded ? ' of a degraded result' : ''}, in this order`, () => {
      assert.equal(createSelect(fields, { degraded })(RESULT), json)
    })
  }
})
