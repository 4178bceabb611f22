import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseOrigin } from '../../../lib/parts/net/origin.ts'

/** Characters that the URL parser maps, drops or refuses, among plain ones. */
const ODD = [...'＊％。．⑴ßİ\u00ad\u0001\t "\'|`']
const character = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('a', 'B', '1', '-', '_', '.', ':', '[', ']') },
  fc.constantFrom(...ODD, '/', '\\', '?', '#', '@', '*', '%', '(', ',', ';'),
)
const almost = fc
  .tuple(
    fc.constantFrom('https://', 'http://', 'HTTPS://', 'http:/', 'ftp://'),
    fc.constantFrom('', 'a.example', 'xn--', '1.2.3.4', '[::1]'),
    fc.string({ unit: character, maxLength: 12 }),
    fc.constantFrom('', '.example', ':80', ':443', ':0', ':65536'),
  )
  .map((parts) => parts.join(''))

describe('parseOrigin', () => {
  it('returns the origin that a browser would send, and accepts it unchanged', () => {
    fc.assert(
      fc.property(fc.oneof(almost, fc.webUrl(), fc.string()), (text) => {
        const origin = parseOrigin(text)?.origin
        if (origin === undefined) return
        assert.equal(origin, new URL(text).origin)
        assert.match(origin, /^https?:\/\/([a-z0-9._-]+|\[[0-9a-f:]+\])(:\d+)?$/)
        assert.equal(parseOrigin(origin)?.origin, origin)
      }),
      { numRuns: 5_000 },
    )
  })

  const good = [
    ['HTTP://Shop.Example:80', 'http://shop.example'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['https://shop.example。', null],
    ['https://my_shop.example', 'https://my_shop.example'],
    ['https://[2001:DB8::1]:443', 'https://[2001:db8::1]'],
    ['https://0x7f.1', 'https://127.0.0.1'],
    ['capacitor://localhost', null],
    ['ionic://localhost', null],
    ['Tauri://localhost', null],
  ] as const
  for (const [text, origin] of good) {
    it(`reads ${text} as ${origin}`, () => assert.equal(parseOrigin(text)?.origin ?? null, origin))
  }

  it('refuses a host that is parsed to something other than a name', () => {
    for (const host of ['＊.example', '⑴.example', 'a％2fb', 'a"b', "a'b", 'a{b}', 'a,b', 'a;b']) {
      assert.equal(parseOrigin(`https://${host}`), null, host)
    }
  })

  it('refuses a host that is too long', () => {
    const host = `${'a.'.repeat(126)}b`
    assert.equal(parseOrigin(`https://${host}`)?.hostname, host)
    assert.equal(parseOrigin(`https://a${host}`), null)
  })

  it('refuses control characters, which the URL parser drops', () => {
    for (const text of ['https://a.example\u0001', '\u0001https://a.example', 'https://a\t.b']) {
      assert.equal(parseOrigin(text), null)
    }
  })
})
