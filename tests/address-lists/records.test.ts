import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { csvFormatRows } from 'd3-dsv'
import fc from 'fast-check'
import { toCells } from '../../lib/address-lists/cells.ts'
import { Records } from '../../lib/address-lists/records.ts'

function recordsOf(chunks: readonly string[], delimiter: string | undefined): string[] {
  const records = new Records(delimiter)
  return [...chunks.flatMap((chunk) => records.push(chunk)), ...records.end()]
}

/** Cuts the text at every `size` characters. */
function cut(text: string, size: number): string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
    text.slice(at * size, (at + 1) * size),
  )
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
        assert.deepEqual(
          records.map((record) => toCells(record, ',')),
          rows,
        )
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
