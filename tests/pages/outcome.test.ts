import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { GeolocationResult } from '../../lib/contract/geo/geolocation.ts'
import { factsOf, placeOf } from '../../pages/facts.ts'
import { type Outcome, OutcomeView } from '../../pages/outcome.tsx'

/** A result in which every text is `text`. */
function resultWith(text: string): GeolocationResult {
  return {
    query: { type: text, value: text, ipVersion: 6 },
    location: {
      continent: { code: text, name: text },
      country: { code: text, name: text, unions: [text] },
      region: { code: text, name: text },
      city: text,
      district: text,
      postalCode: text,
      coordinates: { latitude: -1.5, longitude: -0.25, accuracyRadius: 1 },
      timezone: text,
      utcOffset: text,
      geoConfidence: 0.75,
    },
    network: { asn: text, organization: text, domain: text },
    sources: { geo: [text], asn: [text], tz: [text] },
    meta: { precision: 'city', tier: text, requestId: text, degraded: true },
  }
}

function show(outcome: Outcome): string {
  return String(OutcomeView({ outcome, isOwn: false }))
}

function located(result: GeolocationResult): string {
  return show({ kind: 'located', result, request: { path: '/v1/ip/::', status: 200, ms: 3 } })
}

function tagsOf(html: string): string[] {
  return html.match(/<[^>]*>/g) ?? []
}

const UNSAFE = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '&', '/', '=', 'b', ';') }),
)

describe('OutcomeView', () => {
  it('escapes every text of a result', () => {
    const expected = tagsOf(located(resultWith('x')))
    fc.assert(
      fc.property(UNSAFE, (text) => {
        assert.deepEqual(tagsOf(located(resultWith(text))), expected)
      }),
    )
  })

  it('escapes an invalid address', () => {
    const expected = tagsOf(show({ kind: 'invalid', text: 'x' }))
    fc.assert(
      fc.property(UNSAFE, (text) => {
        assert.deepEqual(tagsOf(show({ kind: 'invalid', text })), expected)
      }),
    )
  })
})

describe('placeOf', () => {
  const continent = { code: 'EU', name: 'Europe' }

  it('lists names from the smallest place to the largest, without repetition', () => {
    const region = { code: 'DE-BE', name: 'Berlin' }
    const country = { code: 'DE', name: 'Germany' }
    assert.equal(
      placeOf({ location: { continent, country, region, city: 'Berlin' } }),
      'Berlin, Germany',
    )
  })

  it('returns the continent if nothing else is known, and null if nothing is', () => {
    assert.equal(placeOf({ location: { continent } }), 'Europe')
    assert.equal(placeOf({}), null)
  })
})

describe('factsOf', () => {
  it('lists only known facts', () => {
    assert.deepEqual(factsOf({ meta: { precision: 'none' } }), [])
    const facts = Object.fromEntries(factsOf(resultWith('x')))
    assert.equal(facts['Coordinates'], '1.5000° S, 0.2500° W')
    assert.equal(facts['Accuracy'], 'within 1 mile')
    assert.equal(facts['Providers agree'], '75%')
    assert.equal(facts['Sources'], 'x')
  })
})
