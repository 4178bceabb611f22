import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { recognise } from '../../../../lib/address-lists/form.ts'
import { readList } from '../../../../lib/address-lists/read-list.ts'
import { createAnswers } from '../../../../web/app/batch/answers.ts'
import { collectAddresses } from '../../../../web/app/batch/collect.ts'
import { countPlaces } from '../../../../web/app/batch/count-places.ts'

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
