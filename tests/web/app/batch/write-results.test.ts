import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { csvParse } from 'd3-dsv'
import fc from 'fast-check'
import { recognise } from '../../../../lib/address-lists/form.ts'
import { readList } from '../../../../lib/address-lists/read-list.ts'
import { FIELDS } from '../../../../lib/contract/geo/geolocation.ts'
import {
  BATCH_COLUMNS,
  BATCH_FIELDS,
  cellAt,
  columnsNamed,
  type RowAnswer,
} from '../../../../pages/dashboard/look-up/batch-columns.ts'
import { openTable, ROWS_PER_PAGE } from '../../../../web/app/batch/table-pages.ts'
import { type Output, writeResults } from '../../../../web/app/batch/write-results.ts'

const LONDON: RowAnswer = {
  ip: '81.2.69.160',
  result: {
    location: {
      continent: { code: 'EU', name: 'Europe' },
      country: { code: 'GB', name: 'United Kingdom' },
      city: 'London',
      coordinates: { latitude: 51.5142, longitude: -0.0931 },
    },
    network: { organization: 'Andrews & Arnold Ltd' },
    meta: { precision: 'city', degraded: true },
  },
}

function results(text: string, output: Output, answer = LONDON) {
  const form = recognise(text)
  const columns = columnsNamed(['city', 'longitude', 'region', 'organization'])
  return writeResults(readList([text], form), output, { form, columns, answerTo: () => answer })
}

async function textOf(parts: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const part of parts) text += part
  return text
}

describe('the columns of a batch', () => {
  it('are fields of the contract', () => {
    assert.deepEqual(
      BATCH_FIELDS.filter((field) => !FIELDS.includes(field)),
      [],
    )
  })

  it('default to all columns if no known one is chosen', () => {
    assert.deepEqual(columnsNamed(['nope']), BATCH_COLUMNS)
  })

  it('are empty if the result lacks the field', () => {
    assert.equal(cellAt({ location: null }, 'location.city'), undefined)
    assert.equal(cellAt('text', 'length.x'), undefined)
    assert.equal(cellAt({ location: { city: {} } }, 'location.city'), undefined)
  })
})

describe('writeResults', () => {
  it('writes the chosen columns after those of the list, and why a row has no result', async () => {
    const rows = csvParse(await textOf(results('who,from\nAda,81.2.69.160\nEve,x\n', 'csv')))
    assert.deepEqual(
      rows.columns.join(),
      'who,from,ip,region,city,longitude,organization,degraded,error',
    )
    const [ada, eve] = rows
    assert.deepEqual([ada?.['who'], ada?.['ip'], ada?.['city']], ['Ada', '81.2.69.160', 'London'])
    assert.deepEqual(
      [ada?.['longitude'], ada?.['region'], ada?.['degraded']],
      ['-0.0931', '', 'true'],
    )
    assert.deepEqual(
      [eve?.['who'], eve?.['city'], eve?.['error']],
      ['Eve', '', 'No IPv4 or IPv6 address'],
    )
  })

  it('writes JSON lines in the form of the API', async () => {
    const text = await textOf(results('who,from\nAda,81.2.69.160\nEve,x\n', 'json'))
    const [ada, eve] = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(ada, {
      ...{ who: 'Ada', from: '81.2.69.160' },
      geo: {
        query: { type: 'ip', value: '81.2.69.160' },
        location: { city: 'London', coordinates: { longitude: -0.0931 } },
        network: { organization: 'Andrews & Arnold Ltd' },
        meta: { degraded: true },
      },
    })
    assert.deepEqual(eve.geo, { error: { message: 'No IPv4 or IPv6 address' } })
  })

  it('escapes formulas in results, and keeps every text whole', async () => {
    const start = fc.constantFrom('=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠', '')
    await fc.assert(
      fc.asyncProperty(start, fc.string(), async (first, rest) => {
        const city = first + rest
        fc.pre(!/^[+-]\d{2}:\d{2}$/.test(city))
        const location = { continent: { code: 'EU', name: 'Europe' }, city }
        const answer = { ip: '::1', result: { location } }
        const [row] = csvParse(await textOf(results('::1', 'csv', answer)))
        const cell = row?.['city'] ?? ''
        assert.doesNotMatch(cell, /^[=+\-@\t\r\n＝＋－＠]/)
        assert.ok(cell === city || cell === `'${city}`)
      }),
    )
  })
})

describe('openTable', () => {
  it('reads any page of the rows', async () => {
    const list = Array.from({ length: 2_345 }, (_, n) => `${n},"a\n${n}",::1`).join('\n\n')
    const table = await openTable(results(list, 'csv'), ',')
    assert.deepEqual(table.heads.slice(0, 4), ['column_1', 'column_2', 'column_3', 'ip'])
    for (const page of [0, 19, 20, 46]) {
      const rows = await table.readPage(page)
      const from = page * ROWS_PER_PAGE
      const expected = Array.from({ length: Math.min(ROWS_PER_PAGE, 2_345 - from) }, (_, at) =>
        String(from + at),
      )
      assert.deepEqual(
        rows.map(([first]) => first),
        expected,
      )
      assert.equal(rows[0]?.[1], `a\n${from}`)
    }
    assert.deepEqual(await table.readPage(47), [])
  })
})
