import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deviceTypeOf } from '../../../web/rum/device.ts'

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
