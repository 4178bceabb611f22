import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkLists } from '../../lib/doctor/check-lists.ts'
import { DAY_MS } from '../../lib/parts/durations.ts'
import { NOON } from '../support/helpers.ts'
import { allLines, matches } from './findings.ts'

describe('checkLists', () => {
  const check = (...lists: Parameters<typeof checkLists>[0]) => checkLists(lists, NOON)
  const fresh = { name: 'AWS', checkedAt: NOON - DAY_MS }

  it('finds nothing if no list was downloaded', () => {
    assert.deepEqual(check(), [])
  })

  it('shows the age of the oldest', () => {
    assert.deepEqual(allLines(check(fresh, { name: 'Tor', checkedAt: NOON - 7 * DAY_MS })), [
      'ok: 2 free lists, the oldest was up to date 7 days ago',
    ])
  })

  it('warns of an old list', () => {
    matches(
      check(fresh, { name: 'Tor', checkedAt: NOON - 8 * DAY_MS }),
      /^warning: The list Tor was up to date 8 days ago → run: npm run geo -- --download$/,
    )
  })

  it('warns of a failed or refused download, with the age of the list in use', () => {
    const failure = { reason: 'it has 3 networks; at least 100 are expected' }
    matches(
      check({ ...fresh, failure }),
      /^warning: The list AWS was up to date 1 day ago: it has 3 networks.* → its earlier version/,
    )
    matches(
      check({ name: 'AWS', failure }),
      /^warning: The list AWS was never downloaded: it has 3/,
    )
  })
})
