import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deviceName } from '../../pages/dashboard/account/sessions.tsx'

const KIT = 'AppleWebKit/537.36 (KHTML, like Gecko)'
const NAMES = {
  'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0': 'Firefox on Linux',
  [`Mozilla/5.0 (X11; Linux x86_64) ${KIT} Chrome/156.0.0.0 Safari/537.36`]: 'Chrome on Linux',
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${KIT} Chrome/156.0.0.0 Safari/537.36 Edg/156.0.0.0`]:
    'Edge on Windows',
  [`Mozilla/5.0 (Linux; Android 16; K) ${KIT} Chrome/156.0.0.0 Mobile Safari/537.36`]:
    'Chrome on Android',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15':
    'Safari on macOS',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1':
    'Safari on iPhone',
  'curl/8.14.1': 'curl/8.14.1',
  'a <b>program</b>': 'a <b>program</b>',
}

describe('deviceName', () => {
  for (const [userAgent, name] of Object.entries(NAMES)) {
    it(`calls ${userAgent.slice(0, 60)} ${name}`, () => {
      assert.equal(deviceName(userAgent), name)
    })
  }
})
