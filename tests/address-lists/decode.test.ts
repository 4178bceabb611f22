import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { decodeList } from '../../lib/address-lists/decode.ts'

async function decoded(bytes: Uint8Array, size = bytes.length): Promise<string> {
  async function* parts() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  let text = ''
  for await (const part of decodeList(parts())) text += part
  return text
}

describe('decodeList', () => {
  it('decodes UTF-8 and keeps the byte order mark, however the bytes are cut', async () => {
    const text = fc
      .array(fc.constantFrom('é', '€', '😀', 'a', '\n', '\ufeff'))
      .map((all) => all.join(''))
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 5 }), async (written, size) => {
        assert.equal(await decoded(Buffer.from(written), size), written)
      }),
    )
  })

  it('reads lines that are not UTF-8 as Windows-1252, and the others as UTF-8', async () => {
    const bytes = Buffer.concat([
      Buffer.from('Köln,1\n'),
      Buffer.from([0x4b, 0xf6, 0x6c, 0x6e, 0x80, 0x0a]),
      Buffer.from('São Paulo'),
    ])
    for (const size of [1, 3, 100]) {
      assert.equal(await decoded(bytes, size), 'Köln,1\nKöln€\nSão Paulo')
    }
  })

  it('decodes UTF-16 with a byte order mark', async () => {
    const little = Buffer.from('\ufeffip\n1.2.3.4 é\n', 'utf16le')
    assert.equal(await decoded(little, 4), '\ufeffip\n1.2.3.4 é\n')
    assert.equal(await decoded(Buffer.from(little).swap16(), 4), '\ufeffip\n1.2.3.4 é\n')
  })

  it('decodes a line without end in parts', async () => {
    const text = 'x'.repeat(3_000_000)
    assert.equal(await decoded(Buffer.from(text), 65_536), text)
  })
})
