import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findStep, toBase32, toUri } from '../../../lib/accounts/second-factor/totp.ts'
import { codeAt } from '../../support/authenticator.ts'

/** RFC 6238, appendix B: the last six of the eight digits for SHA-1. */
const VECTORS: readonly (readonly [seconds: number, code: string])[] = [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
]
const SECRET = Buffer.from('12345678901234567890')

describe('a one-time code', () => {
  it('is that of RFC 6238, here and in the app of our tests', async () => {
    for (const [seconds, code] of VECTORS) {
      assert.equal(findStep(SECRET, code, seconds * 1_000), Math.floor(seconds / 30), code)
      assert.equal(await codeAt(toBase32(SECRET), seconds * 1_000), code)
    }
  })

  it('is good in its own half minute, and in those beside it', () => {
    const code = '005924'
    const begin = Math.floor(1_234_567_890 / 30) * 30_000
    const step = begin / 30_000
    for (const ms of [-30_000, 0, 29_999, 59_999]) {
      assert.equal(findStep(SECRET, code, begin + ms), step, `${ms}`)
    }
    for (const ms of [-30_001, 60_000]) assert.equal(findStep(SECRET, code, begin + ms), null)
  })

  it('has six digits, and belongs to its secret', () => {
    for (const code of ['5924', '0005924', '', '005925']) {
      assert.equal(findStep(SECRET, code, 1_234_567_890_000), null, code)
    }
    assert.equal(findStep(Buffer.from('another secret'), '005924', 1_234_567_890_000), null)
  })
})

describe('the secret', () => {
  it('is written in the Base32 of RFC 4648, section 10, without padding', () => {
    const written = ['', 'f', 'fo', 'foo', 'foob', 'fooba', 'foobar'].map((text) =>
      toBase32(Buffer.from(text)),
    )
    const expected = ['', 'MY', 'MZXQ', 'MZXW6', 'MZXW6YQ', 'MZXW6YTB', 'MZXW6YTBOI']
    assert.deepEqual(written, expected)
  })

  it('is in the URI for apps, with issuer and account', () => {
    const uri = new URL(toUri(SECRET, { issuer: 'Me & Co', account: 'ada@shop.example' }))
    assert.equal(decodeURIComponent(`${uri.host}${uri.pathname}`), 'totp/Me & Co:ada@shop.example')
    const query = Object.fromEntries(uri.searchParams)
    const secret = toBase32(SECRET)
    assert.deepEqual(query, { secret, issuer: 'Me & Co', digits: '6', period: '30' })
  })
})
