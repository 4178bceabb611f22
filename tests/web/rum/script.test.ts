import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import * as v from 'valibot'
import { METRICS } from '../../../lib/contract/telemetry/metrics.ts'
import { BEACON_MAX_BYTES, Beacon } from '../../../lib/contract/telemetry/telemetry-schemas.ts'
import { MAX_BYTES, pathOf, writeBeacon } from '../../../web/rum/beacon.ts'
import { deviceTypeOf } from '../../../web/rum/device.ts'
import { isSameError, toPageError } from '../../../web/rum/page-error.ts'
import { isSampled, readSettings } from '../../../web/rum/settings.ts'
import { timingMetrics } from '../../../web/rum/timing.ts'
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
    const stack = 's'.repeat(1000)
    const errors = Array.from({ length: 12 }, (_, n) => ({ message: `error ${n}`, stack }))
    const { errors: kept } = v.parse(Beacon, JSON.parse(writeBeacon({ ...VIEW, errors }) ?? ''))
    const lengths = kept?.map((error) => [error.message, error.stack?.length])
    const firstTen = errors.slice(0, 10).map(({ message }) => [message, 300])
    assert.deepEqual(lengths, firstTen)
  })

  it('keeps the first errors if not all fit', () => {
    const errors = Array.from({ length: 10 }, (_, n) => ({ message: `${n}${'語'.repeat(199)}` }))
    const { errors: kept } = v.parse(Beacon, JSON.parse(writeBeacon({ ...VIEW, errors }) ?? ''))
    const firsts = kept?.map(({ message }) => message[0])
    assert.deepEqual(firsts, ['0', '1', '2', '3', '4'])
  })

  it('keeps the metrics if no error fits', () => {
    const errors = [{ message: 'm', source: '\u0000'.repeat(1000) }]
    assert.equal(writeBeacon({ ...VIEW, errors }), JSON.stringify(VIEW))
  })
})

describe('the stack of an error', () => {
  it('has its place behind a long message, as Chrome writes it', () => {
    const message = `${'$& x '.repeat(300)}end`
    const error = { name: 'Error', message, stack: `Error: ${message}\n    at f (a.js:1:2)` }
    const expected = `Error: ${message.slice(0, 200)}\n    at f (a.js:1:2)`
    assert.equal(toPageError({ error }).stack, expected)
  })
})

describe('pathOf', () => {
  it('drops the query string and fragment, and keeps at most 500 characters', () => {
    assert.equal(pathOf('https://shop.example/a/b?token=1#c'), '/a/b')
    assert.equal(pathOf('https://shop.example'), '/')
    assert.equal(pathOf('https://shop.example/a%3Fb'), '/a%3Fb')
    assert.equal(pathOf('https://shop.example/новости/caf%C3%A9'), '/новости/café')
    assert.equal(pathOf('https://shop.example/a%2541'), '/a%2541')
    assert.equal(pathOf('https://shop.example/caf%E9'), '/caf%E9')
    assert.equal(pathOf(`https://shop.example/${'й'.repeat(600)}`), `/${'й'.repeat(499)}`)
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

describe('toPageError', () => {
  it('copies what the browser reports', () => {
    const error = new TypeError('x is no function')
    error.stack = 'TypeError: x is no function\n    at f (https://shop.example/a.js:3:7)'
    const message = 'Uncaught TypeError: x is no function'
    const source = 'https://shop.example/a.js'
    const { stack } = error
    const kept = toPageError({ message, filename: source, lineno: 3, colno: 7, error })
    assert.deepEqual(kept, { message, type: 'TypeError', source, line: 3, column: 7, stack })
  })

  it('has only a message if the error comes from another origin', () => {
    const hidden = { message: 'Script error.', filename: '', lineno: 0, colno: 0, error: null }
    assert.deepEqual(toPageError(hidden), { message: 'Script error.' })
  })

  it('accepts any value that a promise is rejected with', () => {
    const messages = [undefined, null, 7, 'no', Symbol('s'), {}, Object.create(null), []].map(
      (error) => toPageError({ error }).message,
    )
    const unknown = Array(3).fill('Unknown error')
    assert.deepEqual(messages, ['undefined', 'null', '7', 'no', 'Symbol(s)', ...unknown])
    assert.equal(toPageError({ error: new RangeError('late') }).message, 'late')
  })

  it('drops query strings', () => {
    const error = new Error('a')
    error.stack =
      'Error: a\n    at f (https://shop.example/a.js?token=t:3:7)\n    at https://x.example/#t:1:2'
    const { message, source, stack } = toPageError({
      message: 'Cannot load "https://shop.example/a?token=t" twice?',
      filename: 'https://shop.example/?token=t',
      error,
    })
    assert.equal(message, 'Cannot load "https://shop.example/a" twice?')
    assert.equal(source, 'https://shop.example/')
    const calls = ['at f (https://shop.example/a.js:3:7)', 'at https://x.example/:1:2']
    assert.equal(stack, ['Error: a', ...calls].join('\n    '))
  })

  it('gives equal errors for the same message at the same place', () => {
    const error = { message: 'a', source: 'b', line: 1, column: 2 }
    assert.ok(isSameError(error, { ...error, stack: 'other' }))
    assert.ok(!isSameError(error, { ...error, column: 3 }))
  })
})

const PLACE = { script: 'https://geo.example/rum.js', page: 'https://shop.example/a/b' }
const ENDPOINT = 'https://geo.example/v1/telemetry/rum'

describe('the attributes of the script tag', () => {
  it('are optional', () => {
    for (const given of [{}, { endpoint: '', sample: '' }])
      assert.deepEqual(readSettings(given, PLACE), { endpoint: ENDPOINT, sample: 1 })
  })

  it('name the endpoint relative to the page', () => {
    const endpointOf = (endpoint: string) => readSettings({ endpoint }, PLACE).endpoint
    assert.equal(endpointOf('https://other.example/x'), 'https://other.example/x')
    assert.equal(endpointOf('/x'), 'https://shop.example/x')
    assert.throws(() => endpointOf('https://'), TypeError)
  })

  it('set the share of page loads to measure', () => {
    const shareOf = (sample: string) => {
      const settings = readSettings({ sample }, PLACE)
      const draws = Array.from({ length: 100 }, (_, n) => n / 100)
      return draws.filter((random) => isSampled(settings, random)).length
    }
    const shares = ['0', '0.25', '1', '2', '-1', '10%'].map(shareOf)
    assert.deepEqual(shares, [0, 25, 100, 100, 0, 100])
  })
})

const CONNECTION = { domainLookupStart: 10, domainLookupEnd: 32.04, secureConnectionStart: 50 }
const ANSWER = { requestStart: 91, responseStart: 191.26, responseEnd: 200 }
const ENTRY = { activationStart: 0, ...CONNECTION, connectEnd: 90, ...ANSWER }

describe('timingMetrics', () => {
  it('gives the duration of each step', () => {
    const expected = { ttfb: 191.3, dns: 22, tls: 40, request: 100.3, response: 8.7 }
    assert.deepEqual(timingMetrics(ENTRY), expected)
  })

  it('omits steps that did not happen', () => {
    const reused = { ...ENTRY, domainLookupEnd: 10, secureConnectionStart: 0, responseEnd: 0 }
    assert.deepEqual(timingMetrics(reused), { ttfb: 191.3, request: 100.3 })
    assert.deepEqual(timingMetrics({ ...ENTRY, responseStart: 0 }), {})
  })

  it('starts at the activation of a prerendered page', () => {
    assert.equal(timingMetrics({ ...ENTRY, activationStart: 100 }).ttfb, 91.3)
    assert.equal(timingMetrics({ ...ENTRY, activationStart: 5000 }).ttfb, 0)
  })
})

const MAC = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Safari/605.1.15'
const ANDROID = 'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 Chrome/140.0.0.0'

const DEVICES = [
  ['desktop', 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/140.0.0.0 Safari/537.36', 0],
  ['desktop', 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/140.0.0.0 Safari/537.36', 10],
  ['desktop', MAC, 0],
  ['tablet', MAC, 5],
  ['tablet', 'Mozilla/5.0 (iPad; CPU OS 12_2 like Mac OS X) Mobile/15E148 Safari/604.1', 5],
  ['tablet', `${ANDROID} Safari/537.36`, 5],
  ['mobile', `${ANDROID} Mobile Safari/537.36`, 5],
  ['mobile', 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) Mobile/15E148', 5],
  ['mobile', 'Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0', 5],
] as const

describe('deviceTypeOf', () => {
  for (const [expected, userAgent, maxTouchPoints] of DEVICES) {
    it(`is ${expected} for ${userAgent} with ${maxTouchPoints} touch points`, () => {
      assert.equal(deviceTypeOf({ userAgent, maxTouchPoints }), expected)
    })
  }

  it('trusts Chromium if the user agent does not reveal the device', () => {
    const device = { userAgent: 'Mozilla/5.0', maxTouchPoints: 5 }
    assert.equal(deviceTypeOf({ ...device, userAgentData: { mobile: true } }), 'mobile')
    assert.equal(deviceTypeOf({ ...device, userAgentData: { mobile: false } }), 'desktop')
  })
})
