import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { plainPath } from '../../../lib/rum/ingest/plain-path.ts'
import { anyCharacter } from '../../support/quick/any-character.ts'

describe('plainPath', () => {
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
    [`/${'a'.repeat(198)}😀`, `/${'a'.repeat(198)}`],
    [
      encodeURI('/новости/экономика/центральный-банк-повысил-ставку'),
      '/новости/экономика/центральный-банк-повысил-ставку',
    ],
    [encodeURI('/新闻/经济/中央银行提高利率'), '/新闻/经济/中央银行提高利率'],
    ['/caf%c3%a9/%E2%82%AC', '/café/€'],
    ['/cafe%CC%81', '/café'],
    ['/caf%E9', '/caf%E9'],
    ['/a%2fb%3Fc%23d%2525', '/a%2Fb%3Fc%23d%2525'],
    ['/a%2Cb%20c', '/a,b c'],
    ['/a%00b%E2%80%AEc', '/abc'],
    ['/%d0%bd%d0', '/н%D0'],
    ['/100%', '/100%'],
    ['/%31%32', '/*'],
  ] as const
  for (const [path, plain] of paths) {
    it(`turns ${JSON.stringify(path)} into ${plain}`, () => assert.equal(plainPath(path), plain))
  }

  it('keeps 200 characters, and cuts between letters with their marks', () => {
    const flag = '🇺🇦'
    assert.equal(plainPath(`/${'a'.repeat(197)}${flag}${flag}`), `/${'a'.repeat(197)}`)
    assert.equal(plainPath(`/${'कि'.repeat(150)}`).length, 199)
    const many = `/${'й'.repeat(250)}`
    assert.equal(plainPath(encodeURI(many)), many.slice(0, 200))
    assert.equal(plainPath(`/${'a'}${'\u0301'.repeat(400)}`).length <= 200, true)
  })

  it('drops the rest of a letter that a script has cut', () => {
    for (const letters of ['й'.repeat(100), '新'.repeat(100), '😀'.repeat(100)]) {
      for (let pad = 0; pad < 12; pad++) {
        const cut = encodeURI(`/${'a'.repeat(pad)}${letters}`).slice(0, 500)
        const plain = plainPath(cut)
        assert.doesNotMatch(plain, /%/, cut.slice(-14))
        assert.ok(`/${'a'.repeat(pad)}${letters}`.startsWith(plain))
      }
    }
  })

  it('changes no path that it has made', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('%', '2', '5', 'd0', 'BD', '/', 'é', 'a') }),
        (path) => {
          const plain = plainPath(path)
          assert.equal(plainPath(plain), plain)
        },
      ),
    )
  })

  it('returns short, well-formed paths', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 500 }), (path) => {
        const plain = plainPath(path)
        assert.ok(plain.startsWith('/') && plain.length <= 200 && plain.isWellFormed())
      }),
    )
  })
})
