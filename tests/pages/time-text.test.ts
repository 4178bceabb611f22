import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { clockText, dayText, minuteText, rangeText } from '../../pages/time-text.ts'

const NOW = Date.UTC(2026, 0, 15, 12)

describe('a time of a page', () => {
  it('has its year if it is not that of the page, or the page is kept', () => {
    const at = Date.UTC(2026, 8, 5, 7, 4, 59, 999)
    assert.equal(dayText(at, NOW), '5 Sep')
    assert.equal(minuteText(at, NOW), '5 Sep, 07:04')
    assert.equal(dayText(at, null), '5 Sep 2026')
    assert.equal(minuteText(Date.UTC(2025, 11, 31, 23, 59), NOW), '31 Dec 2025, 23:59')
    assert.equal(dayText(Date.UTC(2027, 0), NOW), '1 Jan 2027')
    assert.equal(clockText(at), '07:04')
  })

  const day = (year: number, month: number, date: number) => Date.UTC(year, month - 1, date)
  const end = (year: number, month: number, date: number) => day(year, month, date + 1) - 1000
  const RANGES = [
    [day(2026, 1, 9), end(2026, 1, 15), '9–15 Jan'],
    [day(2026, 1, 15), end(2026, 1, 15), '15 Jan'],
    [day(2026, 1, 28), end(2026, 2, 3), '28 Jan – 3 Feb'],
    [day(2025, 12, 28), end(2026, 1, 3), '28 Dec 2025 – 3 Jan'],
    [day(2025, 12, 1), end(2025, 12, 3), '1–3 Dec 2025'],
    [day(2025, 1, 9), end(2026, 1, 15), '9 Jan 2025 – 15 Jan'],
    [NOW - 86_400_000, NOW - 1000, '14 Jan, 12:00 – 15 Jan, 11:59'],
  ] as const
  for (const [from, to, text] of RANGES) {
    it(`names what a range shares once: ${text}`, () =>
      assert.equal(rangeText(from, to, NOW), text))
  }
})
