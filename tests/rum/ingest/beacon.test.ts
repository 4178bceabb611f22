import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { isBot, keepBeacon } from '../../../lib/rum/beacon.ts'
import { formatHour, parseHour } from '../../../lib/rum/hour.ts'
import { errorHash, toPageError } from '../../../lib/rum/page-error.ts'
import { splitPeriod } from '../../../lib/rum/period.ts'
import { plainPath } from '../../../lib/rum/plain-path.ts'

describe('a kept beacon', () => {
  it('has the values in range, and counts the others', () => {
    const metrics = { lcp: 600_000, inp: 600_000.1, cls: 100, ttfb: -0.1, fid: 0 }
    const { metrics: kept, dropped } = keepBeacon({ metrics })
    assert.deepEqual([kept, dropped], [{ lcp: 600_000, cls: 100, fid: 0 }, 2])
  })

  it('has one of few connections', () => {
    const of = (connectionType: string) => keepBeacon({ connectionType, metrics: { lcp: 1 } })
    assert.equal(of('4G').connection, '4g')
    assert.equal(of('ethernet').connection, 'other')
    assert.equal(of('constructor').connection, 'other')
  })
})

describe('a plain path', () => {
  const paths = [
    ['/', '/'],
    ['', '/'],
    ['about/', '/about'],
    ['//', '/'],
    ['/product/123/reviews#top', '/product/*/reviews'],
    ['/u/6f6b1d3e-56c6-4a08-8a0c-9d3a6a3a5a01', '/u/*'],
    ['/c/0123456789abcdef', '/c/*'],
    ['/deadbeefdeadbeef', '/deadbeefdeadbeef'],
    ['/2026/01/release-2', '/*/*/release-2'],
    ['/a\u0000b', '/ab'],
  ] as const
  for (const [path, plain] of paths) {
    it(`of ${JSON.stringify(path)} is ${plain}`, () => assert.equal(plainPath(path), plain))
  }

  it('is short, well formed, and plain already', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 500 }), (path) => {
        const plain = plainPath(path)
        assert.ok(plain.startsWith('/') && plain.length <= 200 && plain.isWellFormed())
      }),
    )
  })
})

describe('an error of a page', () => {
  it('is the same as one that differs in numbers', () => {
    const hashOf = (message: string, line = 1) => errorHash(toPageError({ message, line }))
    assert.equal(hashOf('no item 17'), hashOf('no item 4'))
    assert.notEqual(hashOf('no item 17'), hashOf('no item'))
    assert.notEqual(hashOf('no item', 1), hashOf('no item', 2))
  })

  it('keeps no query of an address, wherever it stands', () => {
    const stack = 'at f (https://a.example/x.js?token=secret:3:4)\nat https://b.example/#secret'
    const kept = toPageError({ message: 'GET https://a.example/?q=secret failed', stack })
    assert.doesNotMatch(JSON.stringify(kept), /secret/)
    assert.equal(kept.message, 'GET https://a.example/ failed')
  })
})

describe('a bot', () => {
  const agents = [
    ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', true],
    ['Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/140.0.0.0 Safari/537.36', true],
    ['Mozilla/5.0 (Macintosh) Chrome/140 Safari/537.36 Chrome-Lighthouse', true],
    ['Mozilla/5.0 (Linux; Android 9; CUBOT X19) Chrome/140 Mobile Safari/537.36', false],
    ['Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1', false],
    ['curl/8.5.0', false],
    ['', false],
  ] as const
  for (const [agent, bot] of agents) {
    it(`${bot ? 'is' : 'is not'} ${agent.slice(0, 60)}`, () => assert.equal(isBot(agent), bot))
  }
})

describe('a period', () => {
  it('is split into whole days and the hours around them, each once', () => {
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

  it('is of hours that exist', () => {
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
