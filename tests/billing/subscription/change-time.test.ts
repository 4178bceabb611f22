import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { changeTime } from '../../../lib/billing/subscription/change-time.ts'
import { readPlans } from '../../../lib/config/plans.ts'

const plans = readPlans(undefined)
const starter = plans.find('starter') ?? plans.free
const pro = plans.find('pro') ?? plans.free
const EXTRA = { requests: pro.monthlyCap - starter.monthlyCap, price: pro.price - starter.price }

const PERIOD = 31 * 86_400_000
const MONTH = { periodStart: 0, periodEnd: PERIOD, interval: 'month' } as const

interface Step {
  readonly waitMs: number
  readonly requests: number
  readonly change: boolean
}

const Steps = fc.array(
  fc.record({
    waitMs: fc.nat(PERIOD / 8),
    requests: fc.nat(60_000),
    change: fc.boolean(),
  }),
  { maxLength: 14 },
)

/** More than the last second of a period costs, in dollars. */
const CENT_FRACTION = 0.001

interface State {
  readonly now: number
  readonly used: number
  readonly isPro: boolean
  readonly chargedFrom: number
  /** What was paid above Starter's price. */
  readonly paid: number
  /** What the additional requests cost at the prices at which their plan was bought. */
  readonly owed: number
}

function start(plan: 'starter' | 'pro'): State {
  const isPro = plan === 'pro'
  return { now: 0, used: 0, isPro, chargedFrom: 0, paid: isPro ? EXTRA.price : 0, owed: 0 }
}

/** The difference in price from this time to the end of the period. */
const priceFrom = (time: number) => (EXTRA.price * (PERIOD - time)) / PERIOD

function use(state: State, { waitMs, requests }: Step): State {
  const now = Math.min(state.now + Math.floor(waitMs / 1000) * 1000, PERIOD)
  const used = state.used + requests
  const before = Math.max(state.used, starter.monthlyCap)
  const answered = state.isPro ? Math.max(0, Math.min(used, pro.monthlyCap) - before) : 0
  const owed = state.owed + (priceFrom(state.chargedFrom) * answered) / EXTRA.requests
  return { ...state, now, used, owed }
}

function changePlan(state: State): State {
  const { isPro, chargedFrom, used, now } = state
  const [from, to] = isPro ? [pro, starter] : [starter, pro]
  const at = changeTime({ ...MONTH, chargedFrom }, { from, to, used, now })
  assert.ok(at >= chargedFrom && at >= now && at <= PERIOD)
  const paid = state.paid + (isPro ? -1 : 1) * priceFrom(at)
  return { ...state, isPro: !isPro, chargedFrom: at, paid }
}

describe('the time from which a change of plan is charged', () => {
  it('lets no sequence of changes pay less than its additional requests cost', () => {
    const startsWith = fc.constantFrom('starter', 'pro')
    fc.assert(
      fc.property(Steps, startsWith, (steps, plan) => {
        const { paid, owed } = steps.reduce((state, step) => {
          const next = use(state, step)
          return step.change ? changePlan(next) : next
        }, start(plan))
        assert.ok(paid >= owed - CENT_FRACTION, `paid ${paid}, owed ${owed}`)
      }),
      { numRuns: 2_000 },
    )
  })

  it('in a paid year is at most the end of the month in which the requests were used', () => {
    const [start, april, may] = [0, 3, 4].map((month) => Date.UTC(2026, month))
    assert.ok(start !== undefined && april !== undefined && may !== undefined)
    const year = { periodStart: start, periodEnd: Date.UTC(2027, 0), interval: 'year' } as const
    const change = { from: pro, to: starter, now: april }
    const atUse = (used: number) => changeTime({ ...year, chargedFrom: start }, { ...change, used })
    assert.equal(atUse(starter.monthlyCap), april)
    assert.equal(atUse(starter.monthlyCap + EXTRA.requests / 2), (april + may) / 2)
    assert.equal(atUse(pro.monthlyCap), may - 1000)
  })
})
