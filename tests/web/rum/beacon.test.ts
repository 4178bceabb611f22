import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import * as v from 'valibot'
import { METRICS } from '../../../lib/contract/telemetry/metrics.ts'
import { BEACON_MAX_BYTES, Beacon } from '../../../lib/contract/telemetry/telemetry-schemas.ts'
import { MAX_BYTES, pathOf, writeBeacon } from '../../../web/rum/beacon.ts'
import { toPageError } from '../../../web/rum/page-error.ts'
import { anyCharacter } from '../../support/quick/any-character.ts'

const VIEW = { path: '/', deviceType: 'desktop', metrics: { lcp: 1200.5 } } as const

const anyText = (maxLength: number) =>
  fc.oneof(
    fc.string({ maxLength, unit: anyCharacter }),
    fc.string({ maxLength, unit: 'grapheme' }),
    fc.nat(maxLength).map((length) => '\u0000'.repeat(length)),
    fc.nat(maxLength).map((length) => '\ud800'.repeat(length)),
    fc.nat(maxLength).map((length) => '語'.repeat(length)),
  )

const failure = fc.record({
  message: anyText(6000),
  filename: anyText(2000),
  lineno: fc.nat(),
  colno: fc.nat(),
  error: fc.record({ name: anyText(300), stack: anyText(6000) }),
})

const finished = fc.record({
  path: anyText(500).map((path) => path.replaceAll('?', '')),
  deviceType: fc.constantFrom('desktop' as const, 'mobile' as const),
  connectionType: anyText(20),
  metrics: fc.dictionary(fc.constantFrom(...METRICS), fc.nat()),
  errors: fc.array(failure.map(toPageError), { maxLength: 14 }),
})

describe('writeBeacon', () => {
  it('never exceeds the limit, and always fits the contract', () => {
    fc.assert(
      fc.property(finished, (view) => {
        const json = writeBeacon(view)
        if (json === null) return
        assert.ok(new TextEncoder().encode(json).length <= BEACON_MAX_BYTES)
        const beacon = v.parse(Beacon, JSON.parse(json))
        assert.ok(beacon.metrics !== undefined || beacon.errors !== undefined)
      }),
      { numRuns: 500 },
    )
  })

  it('has the same limit as the endpoint', () => {
    assert.equal(MAX_BYTES, BEACON_MAX_BYTES)
  })

  it('returns null if nothing was measured', () => {
    assert.equal(writeBeacon({ ...VIEW, metrics: {}, errors: [] }), null)
  })

  it('omits metrics if there are only errors', () => {
    const json = writeBeacon({ path: '/', metrics: {}, errors: [{ message: 'a' }] })
    assert.equal(json, '{"path":"/","errors":[{"message":"a"}]}')
  })

  it('keeps short errors whole', () => {
    const errors = [{ message: 'a', type: 'TypeError', line: 3, stack: 'at b' }]
    assert.deepEqual(JSON.parse(writeBeacon({ ...VIEW, errors }) ?? ''), { ...VIEW, errors })
  })

  it('keeps ten errors, and cuts their stacks first', () => {
    const errors = Array.from({ length: 12 }, (_, n) => ({
      message: `error ${n}`,
      stack: 's'.repeat(1000),
    }))
    const { errors: kept } = v.parse(Beacon, JSON.parse(writeBeacon({ ...VIEW, errors }) ?? ''))
    assert.deepEqual(
      kept?.map(({ message, stack }) => [message, stack?.length]),
      errors.slice(0, 10).map(({ message }) => [message, 300]),
    )
  })

  it('keeps the first errors if not all fit', () => {
    const errors = Array.from({ length: 10 }, (_, n) => ({ message: `${n}${'語'.repeat(199)}` }))
    const { errors: kept } = v.parse(Beacon, JSON.parse(writeBeacon({ ...VIEW, errors }) ?? ''))
    assert.deepEqual(
      kept?.map(({ message }) => message[0]),
      ['0', '1', '2', '3', '4'],
    )
  })

  it('keeps the metrics if no error fits', () => {
    const errors = [{ message: 'm', source: '\u0000'.repeat(1000) }]
    assert.equal(writeBeacon({ ...VIEW, errors }), JSON.stringify(VIEW))
  })
})

describe('pathOf', () => {
  it('drops the query string and fragment, and keeps at most 500 characters', () => {
    assert.equal(pathOf('https://shop.example/a/b?token=1#c'), '/a/b')
    assert.equal(pathOf('https://shop.example'), '/')
    assert.equal(pathOf('https://shop.example/a%3Fb'), '/a%3Fb')
    assert.equal(pathOf(`https://shop.example/${'a'.repeat(600)}`).length, 500)
  })

  it('fits the contract for any URL', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (url) => {
        assert.ok(v.is(Beacon, { path: pathOf(url) }))
      }),
    )
  })
})
