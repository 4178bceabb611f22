import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseSystemNumber } from '../../../lib/parts/net/system-number.ts'

const AnySystem = fc.integer({ min: 0, max: 2 ** 32 - 1 })
const AnyPrefix = fc.constantFrom('', 'AS', 'as', 'As', 'ASN', 'asn')

describe('the number of an autonomous system', () => {
  it('is read in the forms of RFC 5396, with any prefix', () => {
    fc.assert(
      fc.property(AnySystem, AnyPrefix, (number, prefix) => {
        const halves = `${number >>> 16}.${number & 0xffff}`
        assert.equal(parseSystemNumber(`${prefix}${number}`), number)
        assert.equal(parseSystemNumber(`${prefix}${halves}`), number)
      }),
    )
  })

  // RFC 5396, section 2, and reports of peers
  const texts = [
    ['65526', 65_526],
    ['AS65546', 65_546],
    ['1.10', 65_546],
    ['AS0.15169', 15_169],
    ['ASN15169', 15_169],
    ['AS 15169', null],
    [' AS15169', null],
    ['AS-1', null],
    ['AS015169', 15_169],
    ['0.65526', 65_526],
    ['65535.65535', 4_294_967_295],
    ['4294967295', 4_294_967_295],
    ['4294967296', null],
    ['65536.0', null],
    ['0.65536', null],
    ['1.2.3', null],
    ['1.', null],
    ['.1', null],
    ['AS', null],
    ['A15169', null],
    ['ASX15169', null],
    ['-1', null],
    ['+1', null],
    ['1e5', null],
    ['0x10', null],
    ['', null],
    ['Google', null],
  ] as const
  for (const [text, expected] of texts) {
    it(`${JSON.stringify(text)} is ${expected}`, () =>
      assert.equal(parseSystemNumber(text), expected))
  }
})
