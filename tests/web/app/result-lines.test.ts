import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { csvParse } from 'd3-dsv'
import fc from 'fast-check'
import { FIELDS } from '../../../lib/contract/geo/geolocation.ts'
import {
  BATCH_COLUMNS,
  cellAt,
  columnsNamed,
  fieldsOf,
} from '../../../pages/dashboard/look-up/batch-columns.ts'
import { toCsvHeader, toCsvLine, toJsonLine } from '../../../web/app/batch/result-lines.ts'

const LONDON = {
  query: { type: 'ip', value: '81.2.69.160', ipVersion: 4 },
  location: {
    country: { code: 'GB', name: 'United Kingdom' },
    city: 'London',
    coordinates: { latitude: 51.5142, longitude: -0.0931 },
  },
  network: { organization: 'Andrews & Arnold Ltd' },
}

function parsed(lines: string) {
  return csvParse(toCsvHeader(BATCH_COLUMNS) + lines)
}

describe('the columns of a batch', () => {
  it('are fields of the contract', () => {
    assert.deepEqual(
      fieldsOf(BATCH_COLUMNS).filter((field) => !FIELDS.includes(field)),
      [],
    )
  })

  it('default to all columns if no known one is chosen', () => {
    assert.deepEqual(columnsNamed(['nope']), BATCH_COLUMNS)
    assert.deepEqual(fieldsOf(columnsNamed(['city'])), ['query', 'location.city'])
  })

  it('are empty if the result lacks the field', () => {
    assert.equal(cellAt({ location: null }, 'location.city'), undefined)
    assert.equal(cellAt('text', 'length.x'), undefined)
    assert.equal(cellAt({ location: { city: {} } }, 'location.city'), undefined)
  })
})

describe('toCsvLine', () => {
  it('writes the row number and a cell per column', () => {
    const [row] = parsed(toCsvLine({ row: 7, text: '81.2.69.160', result: LONDON }, BATCH_COLUMNS))
    assert.equal(row?.['row'], '7')
    assert.equal(row?.['ip'], '81.2.69.160')
    assert.equal(row?.['city'], 'London')
    assert.equal(row?.['organization'], 'Andrews & Arnold Ltd')
    assert.equal(row?.['longitude'], '-0.0931')
    assert.equal(row?.['region'], '')
    assert.equal(row?.['error'], '')
  })

  it('writes the error of a row', () => {
    const result = { query: {}, error: { code: 'BAD_REQUEST', message: 'Not an address' } }
    const [row] = parsed(toCsvLine({ row: 1, text: 'nope', result }, BATCH_COLUMNS))
    assert.equal(row?.['error'], 'Not an address')
  })

  it('escapes formulas and keeps every text whole', () => {
    const start = fc.constantFrom('=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠', '')
    fc.assert(
      fc.property(start, fc.string(), (first, rest) => {
        const text = first + rest
        fc.pre(!/^[+-]\d{2}:\d{2}$/.test(text))
        const result = { location: { city: text } }
        const [row] = parsed(toCsvLine({ row: 1, text, result }, BATCH_COLUMNS))
        for (const cell of [row?.['ip'], row?.['city']]) {
          assert.doesNotMatch(cell ?? '', /^[=+\-@\t\r\n＝＋－＠]/)
          assert.ok(cell === text || cell === `'${text}`)
        }
      }),
    )
  })
})

describe('toJsonLine', () => {
  it('writes the result with its row number', () => {
    const line = toJsonLine({ row: 7, text: '81.2.69.160', result: LONDON })
    assert.deepEqual(JSON.parse(line), { row: 7, ...LONDON })
    assert.equal(line.indexOf('\n'), line.length - 1)
  })
})
