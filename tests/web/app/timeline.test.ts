import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findUnsure, listIsolated, toColumns } from '../../../web/app/timeline.ts'

const HOUR = 3_600
const DAY = 86_400

describe('the columns of a chart', () => {
  it('have a gap instead of a zero for an hour without values', () => {
    const points = ['3600 1 2 3 4', '10800    0']
    const span = { from: 0, to: 3 * HOUR, step: HOUR }
    assert.deepEqual(toColumns(points, span), [
      [0, 3_600, 7_200, 10_800],
      [null, 1, null, null],
      [null, 2, null, null],
      [null, 3, null, null],
      [null, 4, null, 0],
    ])
  })

  it('start with the first day that the period overlaps', () => {
    const span = { from: DAY + 12 * HOUR, to: 3 * DAY, step: DAY }
    assert.deepEqual(toColumns([`${DAY} 5 6 7 8`], span).slice(0, 2), [
      [DAY, 2 * DAY, 3 * DAY],
      [5, null, null],
    ])
  })

  it('list values between two gaps, because a line cannot show them', () => {
    assert.deepEqual(listIsolated([1, null, 2, 3, null, 0, null]), [0, 5])
    assert.deepEqual(listIsolated([]), [])
  })

  it('say which steps are still running or have few values beside the others', () => {
    const points = [100, 22, 23, 400, 90].map((values, day) => `${day * DAY} 1 2 3 ${values}`)
    const columns = toColumns(points, { from: 0, to: 4 * DAY, step: DAY })
    const unsureAt = (now: number) =>
      findUnsure(columns, DAY, now).flatMap((is, at) => (is ? at : []))
    assert.deepEqual(unsureAt(5 * DAY), [1], 'the usual day has 90 values')
    assert.deepEqual(unsureAt(5 * DAY - 1), [1, 4])
    const empty = toColumns(['0    0'], { from: 0, to: DAY, step: DAY })
    assert.deepEqual(findUnsure(empty, DAY, 5 * DAY), [false, false])
  })
})
