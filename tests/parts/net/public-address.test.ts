import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseAddress } from '../../../lib/parts/net/address.ts'
import { isPublic } from '../../../lib/parts/net/public-address.ts'

describe('isPublic', () => {
  const addresses = {
    true: ['1.1.1.1', '9.255.255.255', '11.0.0.0', '172.32.0.1', '223.255.255.255', '2a00::1'],
    false: ['0.0.0.0', '10.1.2.3', '100.64.0.1', '172.31.0.1', '224.0.0.1', '255.255.255.255'],
  }
  for (const [expected, texts] of Object.entries(addresses)) {
    for (const text of [...texts, ...(expected === 'false' ? ['fc00::1', 'ff02::1', '::'] : [])]) {
      it(`is ${expected} for ${text}`, () => {
        const address = parseAddress(text)
        assert.ok(address)
        assert.equal(String(isPublic(address)), expected)
      })
    }
  }
})
