import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { csvFormatRows } from 'd3-dsv'
import fc from 'fast-check'
import { toCells } from '../../lib/address-lists/cells.ts'
import { decodeList } from '../../lib/address-lists/decode.ts'
import { Records } from '../../lib/address-lists/records.ts'

function recordsOf(chunks: readonly string[], delimiter: string | undefined): string[] {
  const records = new Records(delimiter)
  return [...chunks.flatMap((chunk) => records.push(chunk)), ...records.end()]
}

/** Cuts the text at every `size` characters. */
function cut(text: string, size: number): string[] {
  const part = (_: unknown, at: number) => text.slice(at * size, (at + 1) * size)
  return Array.from({ length: Math.ceil(text.length / size) }, part)
}

describe('Records', () => {
  it('splits at every kind of line break, and keeps empty lines', () => {
    assert.deepEqual(recordsOf(['a\r\nb\rc\n\nd'], undefined), ['a', 'b', 'c', '', 'd'])
    assert.deepEqual(recordsOf(['a\r', '\nb\r'], undefined), ['a', 'b'])
    assert.deepEqual(recordsOf([], ','), [])
  })

  it('keeps line breaks in quoted cells', () => {
    assert.deepEqual(recordsOf(['1,"a\r\nb ""c""\n"\n2,x'], ','), ['1,"a\r\nb ""c""\n"', '2,x'])
  })

  it('takes a quote that does not close, or not at the start of a cell, for a character', () => {
    assert.deepEqual(recordsOf(['"a,1\nb,2\nc,3'], ','), ['"a,1', 'b,2', 'c,3'])
    assert.deepEqual(recordsOf(['5" disk,1\nb,2\n'], ','), ['5" disk,1', 'b,2'])
    const lines = Array<string>(300_000).fill('1.2.3.4,x')
    assert.deepEqual(recordsOf([['"a', ...lines].join('\n')], ','), ['"a', ...lines])
  })

  it('refuses a line that would fill the memory', () => {
    const endless = Array<string>(11).fill('x'.repeat(1_000_000))
    assert.throws(() => recordsOf(endless, ','), /a line of more than 10,000,000 characters/)
    assert.equal(recordsOf(['x'.repeat(9_000_000), '\nb'], ',').length, 2)
  })

  it('reads what another writer of CSV wrote, however the text is cut', () => {
    const cell = fc.string({ unit: fc.constantFrom(',', '"', '\n', '\r', 'a', '1', ' ', 'é') })
    const row = fc.array(cell, { minLength: 2, maxLength: 4 })
    fc.assert(
      fc.property(fc.array(row), fc.integer({ min: 1, max: 9 }), (rows, size) => {
        const records = recordsOf(cut(csvFormatRows(rows), size), ',')
        const cells = records.map((record) => toCells(record, ','))
        assert.deepEqual(cells, rows)
      }),
      { numRuns: 1_000 },
    )
  })

  it('loses no character of any text', () => {
    const unit = fc.constantFrom(',', '"', '\n', 'a')
    fc.assert(
      fc.property(fc.string({ unit }), fc.integer({ min: 1, max: 5 }), (text, size) => {
        const rest = text.endsWith('\n') || text === '' ? text : `${text}\n`
        const records = recordsOf(cut(text, size), ',')
        assert.equal(records.map((record) => `${record}\n`).join(''), rest)
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('toCells', () => {
  it('keeps the text after a closing quote, and a quote that does not close', () => {
    assert.deepEqual(toCells('"a"b,c', ','), ['ab', 'c'])
    assert.deepEqual(toCells('"a,b', ','), ['"a', 'b'])
    assert.deepEqual(toCells('"";"a;b";', ';'), ['', 'a;b', ''])
  })
})

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
    const text = fc.string({ unit: fc.constantFrom('é', '€', '😀', 'a', '\n', '\ufeff') })
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
