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
import { createAnswers } from '../../../../web/app/batch/answers.ts'
import { collectAddresses } from '../../../../web/app/batch/collect.ts'
import { countPlaces } from '../../../../web/app/batch/count-places.ts'
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
    const unknown = BATCH_FIELDS.filter((field) => !FIELDS.includes(field))
    assert.deepEqual(unknown, [])
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
    const heads = 'who,from,ip,region,city,longitude,organization,degraded,error'
    assert.deepEqual(rows.columns.join(), heads)
    const [ada, eve] = rows
    const located = { who: 'Ada', ip: '81.2.69.160', city: 'London', longitude: '-0.0931' }
    assert.partialDeepStrictEqual(ada, { ...located, region: '', degraded: 'true' })
    assert.partialDeepStrictEqual(eve, { who: 'Eve', city: '', error: 'No IPv4 or IPv6 address' })
  })

  it('writes JSON lines in the form of the API', async () => {
    const text = await textOf(results('who,from\nAda,81.2.69.160\nEve,x\n', 'json'))
    const lines = text.trim().split('\n')
    const [ada, eve] = lines.map((line) => JSON.parse(line))
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
        // Numbers and offsets from UTC are no formulas.
        fc.pre(!/^[+-]\d{1,7}(:\d{2})?$/.test(city))
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
    for (const page of [0, 19, 20, 46]) {
      const rows = await table.readPage(page)
      const from = page * ROWS_PER_PAGE
      const length = Math.min(ROWS_PER_PAGE, 2_345 - from)
      const expected = Array.from({ length }, (_, at) => String(from + at))
      const firsts = rows.map(([first]) => first)
      assert.deepEqual(firsts, expected)
      assert.equal(rows[0]?.[1], `a\n${from}`)
    }
    assert.deepEqual(await table.readPage(47), [])
  })
})

const LIST = `who,ip
Ada,81.2.69.160
Jo,2001:DB8::1

Eve,none
Ada,81.2.69.160
Jo,2001:db8:0::1
Al,"10.0.0.1, 10.0.0.2"
`

function collect(text: string) {
  return collectAddresses(readList([text], recognise(text)), () => {})
}

describe('collectAddresses', () => {
  it('keeps each address once, however it is written, and counts its rows', async () => {
    const { addresses, counts, indexOf } = await collect(LIST)
    assert.deepEqual(addresses, ['81.2.69.160', '2001:db8::1', '10.0.0.1'])
    assert.deepEqual(counts, [2, 2, 1])
    assert.equal(indexOf('2001:0db8::1'), 1)
    assert.equal(indexOf('9.9.9.9'), undefined)
  })

  it('counts rows, and lists those without an address by their numbers in a spreadsheet', async () => {
    const { rows, without, several, bad } = await collect(LIST)
    assert.deepEqual({ rows, without, several }, { rows: 6, without: 1, several: 1 })
    assert.deepEqual(bad, [{ row: 5, text: 'Eve,none' }])
  })
})

describe('countPlaces', () => {
  it('counts rows by place, and those that are not looked up', async () => {
    const collected = await collect(LIST)
    const answers = createAnswers()
    const location = {
      continent: { code: 'EU', name: 'Europe' },
      country: { code: 'GB', name: 'United Kingdom' },
      coordinates: { latitude: 51.5, longitude: -0.1 },
    }
    const query = { type: 'ip', value: '81.2.69.160', ipVersion: 4 as const }
    answers.keep([
      { query, location, meta: { precision: 'country', degraded: true } },
      { query: { ...query, value: '2001:db8::1' }, meta: { precision: 'none' } },
    ])
    const { summary, waiting, spots, elsewhere } = await countPlaces(collected, answers)
    assert.deepEqual(summary.addresses, { total: 5, distinct: 2, invalid: 1 })
    assert.deepEqual(summary.countries, [{ code: 'GB', name: 'United Kingdom', count: 2 }])
    assert.equal(summary.precision.none, 2)
    assert.deepEqual({ waiting, elsewhere }, { waiting: 1, elsewhere: 2 })
    assert.deepEqual(spots, [{ latitude: 51.5, longitude: -0.1, count: 2, place: 'GB' }])
    assert.equal(answers.degraded(collected), 2)
  })
})
