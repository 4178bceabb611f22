import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { deriveKey, hashKey, isKeyText, mintKey } from '../../lib/access/api-key.ts'

const TYPES = ['secret', 'publishable'] as const
const types = fc.constantFrom(...TYPES)

describe('mintKey', () => {
  it('makes a new key at each call, always in the same format', () => {
    const texts = new Set<string>()
    for (let n = 0; n < 1_000; n++) {
      const type = n % 2 === 0 ? 'secret' : 'publishable'
      const { text, prefix } = mintKey(type)
      assert.match(text, type === 'secret' ? /^sk_live_[0-9a-f]{64}$/ : /^pk_live_[0-9a-f]{64}$/)
      assert.equal(prefix, text.slice(0, 16))
      assert.ok(isKeyText(text))
      texts.add(text)
    }
    assert.equal(texts.size, 1_000)
  })

  it('stores an id and a hash that do not reveal each other', () => {
    const { text, hash, id } = mintKey('secret')
    const sha256 = (input: string) => createHash('sha256').update(input).digest('hex')
    assert.equal(hash, sha256(text))
    assert.equal(hashKey(text), hash)
    assert.equal(id, sha256(`id:${text}`).slice(0, 32))
  })
})

describe('deriveKey', () => {
  it('makes the same key only from the same secret and purpose', () => {
    const { text, hash } = deriveKey('publishable', 'secret', 'demo key')
    assert.ok(isKeyText(text))
    assert.equal(hash, hashKey(text))
    assert.equal(deriveKey('publishable', 'secret', 'demo key').text, text)
    const bytes = (secret: string, purpose: string) =>
      deriveKey('publishable', secret, purpose).text.slice(8, 64)
    assert.notEqual(bytes('other', 'demo key'), text.slice(8, 64))
    assert.notEqual(bytes('secret', 'other key'), text.slice(8, 64))
  })
})

describe('isKeyText', () => {
  it('refuses every change of a single character', () => {
    const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code))
    const characters = [...ascii, '\u0131', '\u212a', '\uff10', '\ud800', '\u{1f511}', '']
    for (const type of TYPES) {
      const { text } = mintKey(type)
      for (let at = 0; at < text.length; at++) {
        for (const character of characters) {
          const changed = `${text.slice(0, at)}${character}${text.slice(at + 1)}`
          assert.equal(isKeyText(changed), changed === text, `${at} ${JSON.stringify(character)}`)
        }
      }
    }
  })

  it('refuses every change of one hex character, of any key', () => {
    fc.assert(
      fc.property(types, fc.integer({ min: 8, max: 71 }), fc.nat(14), (type, at, step) => {
        const { text } = mintKey(type)
        const digit = (Number.parseInt(text.charAt(at), 16) + 1 + step) % 16
        const changed = `${text.slice(0, at)}${digit.toString(16)}${text.slice(at + 1)}`
        assert.equal(isKeyText(changed), false)
      }),
      { numRuns: 3_000 },
    )
  })

  it('refuses swapped, missing or added characters', () => {
    fc.assert(
      fc.property(types, fc.nat(70), (type, at) => {
        const { text } = mintKey(type)
        const [a = '', b = ''] = text.slice(at, at + 2)
        const swapped = `${text.slice(0, at)}${b}${a}${text.slice(at + 2)}`
        assert.equal(isKeyText(swapped), a === b)
        assert.equal(isKeyText(`${text.slice(0, at)}${text.slice(at + 1)}`), false)
        assert.equal(isKeyText(`${text.slice(0, at)}0${text.slice(at)}`), false)
      }),
    )
  })

  it('refuses any other text', () => {
    const { text } = mintKey('secret')
    for (const other of ['', ' ', text.toUpperCase(), ` ${text}`, `${text}\n`, `${text}${text}`]) {
      assert.equal(isKeyText(other), false)
    }
    fc.assert(fc.property(fc.string(), (other) => !isKeyText(other)))
  })
})
