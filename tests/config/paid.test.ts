import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import Stripe from 'stripe'
import { decimalPlaces, moneyText, smallestUnit } from '../../lib/config/money.ts'
import {
  amountOf,
  defaultSpendingCap,
  toOverageTerms,
  unitsWithin,
} from '../../lib/config/overage-terms.ts'
import { paidPeriod } from '../../lib/config/period.ts'
import { DAY_MS } from '../../lib/parts/durations.ts'

/** Prices with up to 12 decimal places, as Stripe accepts them. */
const unitAmount = fc
  .tuple(fc.nat(10_000), fc.bigInt({ min: 0n, max: 10n ** 12n - 1n }), fc.nat(12))
  .map(([whole, fraction, places]) =>
    `${whole}.${String(fraction).padStart(12, '0')}`.slice(0, -places || undefined),
  )
  .map((text) => text.replace(/\.$/, ''))

describe('amountOf', () => {
  it('rounds the whole line half up, as in the example of Stripe', () => {
    assert.equal(amountOf({ unitAmount: '0.05' }, 30), 2)
    assert.equal(amountOf({ unitAmount: '0.05' }, 29), 1)
    assert.equal(amountOf({ unitAmount: '0.1' }, 0), 0)
    // 1.005 * 100 is less than 100.5 as a floating-point number.
    assert.equal(amountOf({ unitAmount: '1.005' }, 100), 101)
  })

  it('equals the exact product, rounded half up, for every price', () => {
    fc.assert(
      fc.property(unitAmount, fc.nat(1_000_000_000), (price, units) => {
        const product = Stripe.Decimal.from(price).mul(Stripe.Decimal.from(units))
        const rounded = product.round('half-up', { mode: 'decimal-places', value: 0 })
        assert.equal(amountOf({ unitAmount: price }, units), rounded.toNumber())
      }),
    )
  })
})

describe('unitsWithin', () => {
  it('is a safe integer, however cheap the units are', () => {
    assert.equal(unitsWithin({ unitAmount: '0.000000000001' }, 9_008), Number.MAX_SAFE_INTEGER)
  })

  it('is the largest number of units whose price is within the amount', () => {
    fc.assert(
      fc.property(unitAmount, fc.nat(100_000_000), (price, amount) => {
        const units = unitsWithin({ unitAmount: price }, amount)
        if (units === Number.POSITIVE_INFINITY) return assert.equal(Number(price), 0)
        assert.ok(amountOf({ unitAmount: price }, units) <= amount)
        const priceOf = (n: number) => Stripe.Decimal.from(price).mul(Stripe.Decimal.from(n))
        const limit = Stripe.Decimal.from(amount)
        assert.ok(priceOf(units).cmp(limit) <= 0)
        if (units === Number.MAX_SAFE_INTEGER) return
        assert.ok(priceOf(units + 1).cmp(limit) > 0)
      }),
    )
  })
})

describe('the terms of overages', () => {
  const plan = { price: 29 }
  const price = { currency: 'usd', unitAmount: '0.1' }

  it('have a spending cap of three times the price of the plan, unless the user chose another', () => {
    const usual = toOverageTerms(plan, price, null)
    assert.deepEqual(usual, { ...price, spendingCap: 8700, maxUnits: 87_000 })
    const chosen = toOverageTerms(plan, price, { currency: 'usd', amount: 5 })
    assert.deepEqual(chosen, { ...price, spendingCap: 5, maxUnits: 50 })
    const foreign = toOverageTerms(plan, price, { currency: 'eur', amount: 5 })
    assert.equal(foreign.spendingCap, 8700)
  })

  it('count in the smallest unit that the currency has at Stripe', () => {
    assert.equal(defaultSpendingCap({ price: 19.99 }, 'eur'), 5997)
    assert.equal(defaultSpendingCap({ price: 2900 }, 'jpy'), 8700)
    assert.equal(defaultSpendingCap({ price: 9 }, 'kwd'), 27_000)
    assert.deepEqual(['isk', 'ugx', 'rsd', 'USD'].map(decimalPlaces), [2, 2, 2, 2])
  })
})

describe('money', () => {
  it('is shown exactly, with all its decimal places', () => {
    assert.equal(moneyText(8700, 'usd'), '$87.00')
    assert.equal(moneyText('0.1', 'usd'), '$0.001')
    assert.equal(moneyText('0.000000000001', 'eur'), '€0.00000000000001')
    assert.equal(moneyText(1234, 'jpy'), '¥1,234')
  })

  it('is read with a point or a comma, and refused with more places than the currency has', () => {
    const read = ['87', '87.5', '87,50', '0', '87.505', '-1', '1e3', '', '.5']
    const units = read.map((text) => smallestUnit(text, 'usd'))
    assert.deepEqual(units, [8700, 8750, 8750, 0, null, null, null, null, null])
    assert.equal(smallestUnit('100.5', 'jpy'), null)
    assert.equal(smallestUnit('1.234', 'kwd'), 1234)
  })
})

const at = (text: string) => Date.parse(`${text}:00.000Z`)

/** The month of the paid year in which requests of this time are counted. */
function monthAt(start: string, now: string): string[] {
  const yearLater = start.replace(/^\d+/, (year) => `${Number(year) + 1}`)
  const paid = { start: at(start), end: at(yearLater), interval: 'year' } as const
  const { start: from, end } = paidPeriod(paid, at(now))
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
