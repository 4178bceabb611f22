import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { money } from '../../pages/dashboard/parts/money.ts'

const TABLE = [
  ['hundredths', 1234, 'eur', '€12.34'],
  ['a credit', -1997, 'usd', '-$19.97'],
  ['thousands', 123_456_789, 'usd', '$1,234,567.89'],
  ['no smaller unit', 1234, 'jpy', '¥1,234'],
  ['no smaller unit, though ISO 4217 has one', 1234, 'mga', 'MGA 1,234'],
  ['thousandths', 12_340, 'kwd', 'KWD 12.340'],
  ['hundredths at Stripe, a whole number for people', 500, 'isk', 'ISK 5'],
  ['hundredths at Stripe, a whole number for people', 123_400, 'ugx', 'UGX 1,234'],
  ['hundredths, although people rarely use them', 1234, 'huf', 'HUF 12.34'],
  ['hundredths, although people rarely use them', 1234, 'twd', 'NT$12.34'],
  ['hundredths, which Intl would round away', 1234, 'rsd', 'RSD 12.34'],
  ['hundredths, which Intl would round away', 1234, 'afn', 'AFN 12.34'],
  ['capitals', 1234, 'JPY', '¥1,234'],
  ['an unknown currency', 1234, '', '12.34'],
] as const

describe('money', () => {
  for (const [subject, amount, currency, text] of TABLE) {
    it(`shows ${subject}: ${text}`, () => {
      assert.equal(money(amount, currency).replaceAll('\u00a0', ' '), text)
    })
  }
})
