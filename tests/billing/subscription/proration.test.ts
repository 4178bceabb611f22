import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  carryOver,
  changeTime,
  countedPeriod,
} from '../../../lib/billing/subscription/proration.ts'
import { capIn, toCarriedRequests } from '../../../lib/config/carried-requests.ts'
import { monthFrom } from '../../../lib/config/period.ts'
import { type Plan, readPlans } from '../../../lib/config/plans.ts'

const { free, find } = readPlans(undefined)
const starter = find('starter') ?? free
const pro = find('pro') ?? free
/** A third paid plan. Pro has the cheapest requests, so the prices are not on a line. */
const big: Plan = { ...pro, id: 'big', price: 99, monthlyCap: 300_000 }
const LADDER = [starter, pro, big] as const
const plans = { list: [free, ...LADDER] }

const DAY = 86_400_000
const PERIOD = 31 * DAY
const MONTH = {
  periodStart: 0,
  periodEnd: PERIOD,
  interval: 'month',
  chargedFrom: '',
  carriedRequests: null,
  carriedUntil: null,
} as const

interface Held {
  readonly now: number
  readonly used: number
  readonly plan: Plan
  readonly row: Parameters<typeof changeTime>[0]
  /** In dollars, as Stripe charges and credits: by time. */
  readonly paid: number
}

const buy = (plan: Plan): Held => ({ now: 0, used: 0, plan, row: MONTH, paid: plan.price })

const use = (state: Held, requests: number): Held => ({ ...state, used: state.used + requests })

const pass = (state: Held, ms: number): Held => ({
  ...state,
  now: Math.min(state.now + Math.floor(ms / 1000) * 1000, PERIOD - 1000),
})

function changeTo(state: Held, to: Plan): Held {
  const { plan: from, used, now, row } = state
  if (from === to) return state
  const { at, chargedFrom } = changeTime(row, { plans, from, to, used, now })
  assert.ok(at >= now && at < PERIOD, `charged at ${at}, changed at ${now}`)
  const paid = state.paid + ((to.price - from.price) * (PERIOD - at)) / PERIOD
  return { ...state, plan: to, row: { ...row, chargedFrom }, paid }
}

const Step = fc.record({
  waitMs: fc.oneof(fc.constant(0), fc.nat(PERIOD / 4)),
  requests: fc.oneof(fc.constant(0), fc.constant(300_000), fc.nat(120_000)),
  to: fc.constantFrom(...LADDER),
})
const Story = fc.tuple(fc.constantFrom(...LADDER), fc.array(Step, { maxLength: 12 }))

/** More than the seconds cost to which the times of changes are rounded, in dollars. */
const CENT_FRACTION = 0.005

/** What Starter and then the plan cost that was taken at `since`, if all its requests are used; else 0. */
function priceSince({ plan, used }: Held, since: number): number {
  if (used < plan.monthlyCap) return 0
  return starter.price + (plan.price - starter.price) * ((PERIOD - since) / PERIOD)
}

describe('changes of the plan within a period', () => {
  it('pay for the rest of the period for a plan whose cap was used up', () => {
    fc.assert(
      fc.property(Story, ([first, steps]) => {
        let state = buy(first)
        let since = 0
        let least = starter.price
        for (const { waitMs, requests, to } of steps) {
          state = use(pass(state, waitMs), requests)
          least = Math.max(least, priceSince(state, since))
          if (to !== state.plan) since = state.now
          state = changeTo(state, to)
        }
        const { paid } = changeTo(state, starter)
        assert.ok(paid >= least - CENT_FRACTION, `paid ${paid}, at least ${least}`)
      }),
      { numRuns: 5_000 },
    )
  })

  it('cost nothing more when they lead back to a plan that is paid for already', () => {
    fc.assert(
      fc.property(fc.constantFrom(...LADDER), fc.nat(300_000), fc.nat(PERIOD), (plan, used, ms) => {
        const before = pass(use(buy(big), used), ms)
        const back = changeTo(changeTo(before, plan), big)
        assert.ok(Math.abs(back.paid - big.price) < CENT_FRACTION, `paid ${back.paid}`)
      }),
      { numRuns: 2_000 },
    )
  })

  it('charge the step to a larger plan after a downgrade that credited nothing', () => {
    const back = changeTo(pass(use(buy(pro), 100_000), PERIOD / 2), starter)
    assert.ok(Math.abs(back.paid - 29) < CENT_FRACTION)
    // 99 - 29 = 70 dollars, for half of the period.
    assert.ok(Math.abs(changeTo(back, big).paid - (29 + 35)) < CENT_FRACTION)
  })

  it('credit no more after a detour by a larger plan than without it', () => {
    const spent = pass(use(buy(pro), 100_000), PERIOD / 2)
    const detour = changeTo(changeTo(spent, big), starter)
    assert.ok(Math.abs(detour.paid - 29) < CENT_FRACTION, `paid ${detour.paid}`)
  })
})

describe('the time from which a change of plan is charged', () => {
  it('in a paid year is at most the end of the month in which the requests were used', () => {
    const [periodStart, april, may] = [0, 3, 4].map((month) => Date.UTC(2026, month))
    assert.ok(periodStart !== undefined && april !== undefined && may !== undefined)
    const periodEnd = Date.UTC(2027, 0)
    const year = { ...MONTH, periodStart, periodEnd, interval: 'year' } as const
    const change = { plans, from: pro, to: starter, now: april }
    const atUse = (used: number) => changeTime(year, { ...change, used }).at
    assert.equal(atUse(25_000), april)
    // Half of the 75,000 additional requests.
    assert.equal(atUse(62_500), (april + may) / 2)
    assert.equal(atUse(100_000), may - 1000)
  })
})

describe('a change of the interval', () => {
  const capOf = ({ row, plan, now }: Held) =>
    capIn(countedPeriod(row, now), plan, toCarriedRequests(row.carriedRequests, row.carriedUntil))

  /** Changes between month and year, if that is possible now. */
  function restart(state: Held): Held {
    const { row, plan, now, used } = state
    const carried = carryOver(row, { plans, from: plan, to: plan, used, now })
    if (carried !== null && 'notBefore' in carried) return state
    const period = { periodStart: now, periodEnd: monthFrom(now, now).end }
    const kept = {
      carriedRequests: carried?.requests ?? null,
      carriedUntil: carried?.until ?? null,
    }
    return { ...state, used: 0, row: { ...MONTH, ...period, ...kept } }
  }

  it('gives no more requests than the caps of the months passed and one more', () => {
    const Wait = fc.record({ waitMs: fc.nat(20 * DAY), requests: fc.nat(120_000) })
    fc.assert(
      fc.property(fc.array(Wait, { maxLength: 12 }), (steps) => {
        let state = buy(pro)
        let total = 0
        for (const { waitMs, requests } of steps) {
          const now = state.now + waitMs - (waitMs % 1000)
          state = { ...state, now: Math.min(now, state.row.periodEnd - 1000) }
          const answered = Math.min(requests, Math.max(0, capOf(state) - state.used))
          total += answered
          state = restart(use(state, answered))
        }
        // The shortest month has 28 days, and each change may round up one request.
        const passed = state.now / (28 * DAY)
        assert.ok(total <= pro.monthlyCap * (passed + 1) + steps.length, `${total} in ${passed}`)
      }),
      { numRuns: 2_000 },
    )
  })

  it('carries nothing over from a user who was not ahead of the time', () => {
    const change = { plans, from: pro, to: pro, used: 50_000, now: PERIOD / 2 }
    assert.equal(carryOver(MONTH, change), null)
  })

  it('waits for the end of the month if the new plan has no room for what was used ahead', () => {
    const change = { plans, from: pro, to: starter, used: 70_000, now: 0 }
    assert.deepEqual(carryOver(MONTH, change), { notBefore: PERIOD })
  })

  it('waits for the end of the time that is charged already', () => {
    const spent = changeTo(use(buy(pro), 62_500), starter)
    const change = { plans, from: starter, to: starter, used: 62_500, now: 0 }
    assert.deepEqual(carryOver(spent.row, change), { notBefore: PERIOD / 2 })
  })
})
