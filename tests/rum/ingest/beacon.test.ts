import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { formatHour, parseHour } from '../../../lib/rum/hour.ts'
import { keepBeacon } from '../../../lib/rum/ingest/beacon.ts'
import { errorHash, toPageError } from '../../../lib/rum/ingest/page-error.ts'
import { splitPeriod } from '../../../lib/rum/read/period.ts'

describe('keepBeacon', () => {
  it('keeps values in range, and counts the others', () => {
    const metrics = { lcp: 600_000, inp: 600_000.1, cls: 100, ttfb: -0.1, fid: 0 }
    const { metrics: kept, dropped } = keepBeacon({ metrics })
    assert.deepEqual([kept, dropped], [{ lcp: 600_000, cls: 100, fid: 0 }, 2])
  })

  it('maps the connection to one of a fixed list', () => {
    const of = (connectionType: string) => keepBeacon({ connectionType, metrics: { lcp: 1 } })
    assert.equal(of('4G').connection, '4g')
    assert.equal(of('ethernet').connection, 'other')
    assert.equal(of('constructor').connection, 'other')
  })
})

describe('the attribution of a beacon', () => {
  const causesOf = (attribution: object, metrics: object = { lcp: 2_501, inp: 201, cls: 0.11 }) =>
    keepBeacon({ metrics, attribution }).causes

  it('is kept for values that are kept and not good', () => {
    const attribution = { lcp: 'img.hero', inp: '#buy', inpPhase: 'processing', cls: 'div.ad' }
    assert.deepEqual(causesOf(attribution), attribution)
    assert.deepEqual(causesOf(attribution, { lcp: 600_001, inp: 200, cls: 0.2 }), { cls: 'div.ad' })
    assert.deepEqual(causesOf({ lcp: '', inp: undefined, inpPhase: 'waiting' }), {})
  })

  it('has no ids of persons or things, no control characters, and at most 100 characters', () => {
    const ids = ['20391', '0f8fad5b-d9cb-469f-a165-70867728950e', 'deadbeef0123']
    for (const id of ids)
      assert.deepEqual(causesOf({ lcp: `#order-${id}>b` }), { lcp: '#order-*>b' })
    assert.deepEqual(causesOf({ lcp: 'h1.col-12.\u202egpj\n' }), { lcp: 'h1.col-12.gpj' })
    assert.equal(causesOf({ cls: 'x'.repeat(500) })?.cls?.length, 100)
  })

  it('leaves out what a newer script sends in addition', () => {
    assert.deepEqual(causesOf({ lcp: 'h1', lcpPhase: 'load-delay' }), { lcp: 'h1' })
  })
})

describe('a stored page error', () => {
  it('has the same hash as one that differs only in numbers', () => {
    const hashOf = (message: string, line = 1) => errorHash(toPageError({ message, line }))
    assert.equal(hashOf('no item 17'), hashOf('no item 4'))
    assert.notEqual(hashOf('no item 17'), hashOf('no item'))
    assert.notEqual(hashOf('no item', 1), hashOf('no item', 2))
  })

  it('keeps the place in the stack behind a long message', () => {
    const message = 'x'.repeat(1_200)
    const { stack = '' } = toPageError({ message, stack: `Error: ${message}\n    at f (a.js:1:2)` })
    assert.equal(stack, `Error: ${'x'.repeat(200)}\n    at f (a.js:1:2)`)
  })

  it('has no query string of a URL in any of its texts', () => {
    const stack = 'at f (https://a.example/x.js?token=secret:3:4)\nat https://b.example/#secret'
    const kept = toPageError({ message: 'GET https://a.example/?q=secret failed', stack })
    assert.doesNotMatch(JSON.stringify(kept), /secret/)
    assert.equal(kept.message, 'GET https://a.example/ failed')
    assert.equal(kept.stack, 'at f (https://a.example/x.js:3:4)\nat https://b.example/')
    const source = 'https://a.example/?next=https://b.example/?token=secret'
    assert.equal(toPageError({ message: '', source }).source, 'https://a.example/')
    const colons = 'at f (https://a.example/x.js?key=ab:secret:3:4)'
    const short = toPageError({ message: '', stack: colons }).stack
    assert.equal(short, 'at f (https://a.example/x.js:3:4)')
  })
})

describe('the period of a query', () => {
  it('is split into whole days and the hours around them, without overlap', () => {
    const span = fc.tuple(fc.integer({ min: 480_000, max: 490_000 }), fc.nat(300))
    fc.assert(
      fc.property(span, ([from, length]) => {
        const { before, days, after } = splitPeriod({ from, to: from + length })
        const whole = days && { from: days.from * 24, to: days.to * 24 + 23 }
        const all = [before, whole, after].flatMap((part) =>
          part ? range(part.from, part.to) : [],
        )
        assert.deepEqual(all, range(from, from + length))
        for (const part of days === undefined ? [] : [before, after]) {
          assert.ok(part === undefined || part.to - part.from < 23)
        }
      }),
    )
  })

  it('accepts only hours that exist', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2_000_000 }), (hour) => {
        assert.equal(parseHour(formatHour(hour)), hour)
      }),
    )
    for (const text of ['2026-02-29T00', '2026-01-01T24', '2026-1-01T00', '']) {
      assert.equal(parseHour(text), null, text)
    }
  })
})

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at)
}
