import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { timingMetrics } from '../../../web/rum/timing.ts'

const ENTRY = {
  activationStart: 0,
  domainLookupStart: 10,
  domainLookupEnd: 32.04,
  secureConnectionStart: 50,
  connectEnd: 90,
  requestStart: 91,
  responseStart: 191.26,
  responseEnd: 200,
}

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
