import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { paidPeriod } from '../../lib/config/period.ts'
import { DAY_MS } from '../../lib/parts/durations.ts'

const at = (text: string) => Date.parse(`${text}:00.000Z`)

const yearFrom = (start: string) =>
  ({
    start: at(start),
    end: at(start.replace(/^\d+/, (y) => `${Number(y) + 1}`)),
    interval: 'year',
  }) as const

/** The month of the paid year in which requests of this time are counted. */
function monthAt(start: string, now: string): string[] {
  const { start: from, end } = paidPeriod(yearFrom(start), at(now))
  return [from, end].map((time) => new Date(time).toISOString().slice(0, 16))
}

describe('the period of a plan paid by the year', () => {
  it('is a month that begins at the day and time at which the year began', () => {
    const start = '2026-03-15T12:30'
    assert.deepEqual(monthAt(start, start), [start, '2026-04-15T12:30'])
    assert.deepEqual(monthAt(start, '2026-04-15T12:29'), [start, '2026-04-15T12:30'])
    assert.deepEqual(monthAt(start, '2026-04-15T12:30'), ['2026-04-15T12:30', '2026-05-15T12:30'])
    assert.deepEqual(monthAt(start, '2027-03-01T00:00'), ['2027-02-15T12:30', '2027-03-15T12:30'])
  })

  it('begins on the last day of a month without that day, and not on it in the next', () => {
    const start = '2026-01-31T00:00'
    assert.deepEqual(monthAt(start, '2026-02-28T00:00'), ['2026-02-28T00:00', '2026-03-31T00:00'])
    assert.deepEqual(monthAt(start, '2026-03-30T23:59'), ['2026-02-28T00:00', '2026-03-31T00:00'])
    assert.deepEqual(monthAt(start, '2026-04-30T00:00'), ['2026-04-30T00:00', '2026-05-31T00:00'])
  })

  it('goes on after the year, until Stripe reports the next, and before it by a slow clock', () => {
    const start = '2026-03-15T12:30'
    assert.deepEqual(monthAt(start, '2027-04-01T00:00'), ['2027-03-15T12:30', '2027-04-15T12:30'])
    assert.deepEqual(monthAt(start, '2026-03-15T12:29'), [start, '2026-04-15T12:30'])
  })

  it('contains the time, and the next one begins where it ends', () => {
    const start = fc.integer({ min: at('2020-01-01T00:00'), max: at('2040-01-01T00:00') })
    fc.assert(
      fc.property(start, fc.integer({ min: 0, max: 800 * DAY_MS }), (from, gone) => {
        const paid = { start: from, end: from + 365 * DAY_MS, interval: 'year' } as const
        const now = from + gone
        const period = paidPeriod(paid, now)
        assert.ok(period.start <= now && now < period.end)
        assert.equal(paidPeriod(paid, period.end).start, period.end)
      }),
    )
  })
})
