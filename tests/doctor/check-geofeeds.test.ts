import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkGeo } from '../../lib/doctor/check-age.ts'
import { checkGeofeeds } from '../../lib/doctor/check-geofeeds.ts'
import { DAY_MS } from '../../lib/parts/durations.ts'
import { NOON } from '../support/helpers.ts'
import { allLines, lines, matches } from './findings.ts'

describe('checkGeofeeds', () => {
  const check = (...feeds: Parameters<typeof checkGeofeeds>[0]) => checkGeofeeds(feeds, NOON)
  const fresh = { source: 'own.csv', checkedAt: NOON - DAY_MS, entries: 7 }

  it('shows the age and the networks of each', () => {
    assert.deepEqual(allLines(check(fresh)), [
      'ok: The geofeed own.csv was up to date 1 day ago, with 7 networks',
    ])
  })

  it('warns if they were never updated, or not for days', () => {
    matches(check(), /^warning: The geofeeds were never updated → run: npm run geo -- --download$/)
    matches(
      check({ ...fresh, checkedAt: NOON - 4 * DAY_MS }),
      /^warning: The geofeed own\.csv was up to date 4 days ago → run: npm run geo -- --download$/,
    )
  })

  it('warns of a failed update, with the age of the version in use', () => {
    const failure = { reason: 'it is a page, not a geofeed' }
    matches(check({ ...fresh, failure }), /own\.csv was up to date 1 day ago: it is a page, not a/)
    matches(check({ source: 'own.csv', failure }), /own\.csv was never usable: it is a page/)
  })

  it('warns of ignored lines, with examples', () => {
    matches(
      check({ ...fresh, outside: 2, bad: 1, examples: ['line 3: why', 'line 5: why not'] }),
      /ago; 2 of its entries are outside its blocks and 1 lines are bad: line 3: why; line 5: why not → name/,
    )
  })
})

describe('checkGeo', () => {
  it('does not call files old that change only with their contents', () => {
    const builtAt = new Date(NOON - 400 * DAY_MS).toISOString()
    const own = ['overlay', 'geofeeds'].map((name) => ({ name, builtAt }))
    assert.deepEqual(lines(checkGeo(own, NOON)), ['ok', 'ok'])
  })
})
