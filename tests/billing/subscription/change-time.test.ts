import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  changeTime,
  countedPeriod,
  requestsAfter,
  requestsAfterRestart,
} from '../../../lib/billing/subscription/change-time.ts'
import { capIn, toPaidRequests } from '../../../lib/config/paid-requests.ts'
import { monthFrom } from '../../../lib/config/period.ts'
import { type Plan, readPlans } from '../../../lib/config/plans.ts'

const plans = readPlans(undefined)
const starter = plans.find('starter') ?? plans.free
const pro = plans.find('pro') ?? plans.free
const EXTRA = { requests: pro.monthlyCap - starter.monthlyCap, price: pro.price - starter.price }

const DAY = 86_400_000
const PERIOD = 31 * DAY

/** Three paid plans. The middle one has the cheapest requests, so the prices are not those of a line. */
const LADDER: readonly [Plan, Plan, Plan] = [
  { ...pro, id: 'b', price: 9, monthlyCap: 25_000 },
  { ...pro, id: 'c', price: 29, monthlyCap: 100_000 },
  { ...pro, id: 'd', price: 99, monthlyCap: 300_000 },
]

interface Held {
  readonly now: number
  /** Requests answered in full. */
  readonly used: number
  readonly plan: Plan
  readonly held: readonly Plan[]
  readonly row: Parameters<typeof changeTime>[0]
  /** In cents, as Stripe charges and credits: by time, rounded. */
  readonly paid: number
}

function buy(plan: Plan): Held {
  const period = { periodStart: 0, periodEnd: PERIOD, interval: 'month' } as const
  const row = { ...period, chargedFrom: 0, paidRequests: null, paidUntil: null }
  return { now: 0, used: 0, plan, held: [plan], row, paid: 100 * plan.price }
}

function capOf({ row, plan, now }: Held): number {
  const paid = toPaidRequests(row.paidRequests, row.paidUntil)
  return capIn(countedPeriod(row, now), plan, paid)
}

const use = (state: Held, requests: number): Held => ({
  ...state,
  used: state.used + Math.min(requests, Math.max(0, capOf(state) - state.used)),
})

const pass = (state: Held, ms: number): Held => ({
  ...state,
  now: Math.min(state.now + Math.floor(ms / 1000) * 1000, PERIOD - 1000),
})

function changeTo(state: Held, to: Plan): Held {
  const { plan: from, used, now, row } = state
  if (from === to) return state
  const change = { from, to, used, now }
  const at = changeTime(row, change)
  assert.ok(at >= row.chargedFrom && at < PERIOD)
  const after = requestsAfter(row, change, at)
  const share = (PERIOD - at) / PERIOD
  const paid =
    state.paid - Math.round(100 * from.price * share) + Math.round(100 * to.price * share)
  const paidRequests = { paidRequests: after?.requests ?? null, paidUntil: after?.until ?? null }
  const changed = { ...row, chargedFrom: at, ...paidRequests }
  return { ...state, plan: to, held: [...state.held, to], row: changed, paid }
}

describe('changes of the plan within a period', () => {
  it('never pay less than the used requests cost in the cheapest plan held', () => {
    const Step = fc.record({
      waitMs: fc.oneof(fc.constant(0), fc.nat(PERIOD / 4)),
      requests: fc.oneof(fc.constant(300_000), fc.nat(120_000)),
      to: fc.constantFrom(...LADDER),
    })
    fc.assert(
      fc.property(fc.array(Step, { maxLength: 12 }), fc.constantFrom(...LADDER), (steps, first) => {
        const end = steps.reduce(
          (state, { waitMs, requests, to }) => changeTo(use(pass(state, waitMs), requests), to),
          buy(first),
        )
        const { used, paid, held } = use(end, 300_000)
        const cheapest = Math.min(...held.map(({ price, monthlyCap }) => price / monthlyCap))
        const cents = held.length
        assert.ok(paid + cents >= 100 * used * cheapest, `paid ${paid} for ${used}`)
      }),
      { numRuns: 5_000 },
    )
  })

  it('sells nothing for nothing after a downgrade that credited nothing', () => {
    const [b, c, d] = LADDER
    const spent = use(buy(c), 100_000)
    const back = changeTo(spent, b)
    assert.equal(back.paid, 2900)
    const up = changeTo(back, d)
    assert.equal(up.paid, 2900)
    assert.equal(capOf(up) - up.used, 0)
  })

  it('give an upgrade in mid-period the requests of the time that it pays', () => {
    const [b, c] = LADDER
    const half = changeTo(pass(buy(b), PERIOD / 2), c)
    assert.equal(half.paid, 900 + 1000)
    assert.equal(capOf(half), 62_500)
  })

  it('on the first day give and charge the whole plan', () => {
    const [b, , d] = LADDER
    const up = changeTo(pass(buy(b), DAY - 1000), d)
    assert.deepEqual([up.paid, capOf(up)], [9900, 300_000])
    const back = changeTo(up, b)
    assert.deepEqual([back.paid, capOf(back)], [900, 25_000])
  })
})

describe('the time from which a change of plan is charged', () => {
  it('in a paid year is at most the end of the month in which the requests were used', () => {
    const [start, april, may] = [0, 3, 4].map((month) => Date.UTC(2026, month))
    assert.ok(start !== undefined && april !== undefined && may !== undefined)
    const row = { paidRequests: null, paidUntil: null }
    const year = {
      ...row,
      periodStart: start,
      periodEnd: Date.UTC(2027, 0),
      interval: 'year',
    } as const
    const change = { from: pro, to: starter, now: april }
    const atUse = (used: number) => changeTime({ ...year, chargedFrom: start }, { ...change, used })
    assert.equal(atUse(starter.monthlyCap), april)
    assert.equal(atUse(starter.monthlyCap + EXTRA.requests / 2), (april + may) / 2)
    assert.equal(atUse(pro.monthlyCap), may - 1000)
  })
})

describe('a change of the interval', () => {
  it('gives no more requests than the caps of the months passed and one more', () => {
    const Step = fc.record({ waitMs: fc.nat(20 * DAY), requests: fc.nat(120_000) })
    const switched = (state: Held): Held => {
      const { row, plan, now, used } = state
      const after = requestsAfterRestart(row, { from: plan, to: plan, used, now })
      if (after !== null && 'notBefore' in after) return state
      const paid = { paidRequests: after?.requests ?? null, paidUntil: after?.until ?? null }
      const { end } = monthFrom(now, now)
      const period = { periodStart: now, periodEnd: end, chargedFrom: now }
      return { ...state, used: 0, row: { ...row, ...period, ...paid } }
    }
    fc.assert(
      fc.property(fc.array(Step, { maxLength: 12 }), (steps) => {
        let state = buy(pro)
        let total = 0
        for (const { waitMs, requests } of steps) {
          const now = Math.min(state.now + waitMs - (waitMs % 1000), state.row.periodEnd - 1000)
          const later = { ...state, now }
          const used = use(later, requests)
          total += used.used - later.used
          state = switched(used)
        }
        // The shortest month has 28 days, and each change may round up one request.
        const passed = state.now / (28 * DAY)
        assert.ok(total <= pro.monthlyCap * (passed + 1) + steps.length, `${total} in ${passed}`)
      }),
      { numRuns: 2_000 },
    )
  })

  it('waits if more was used ahead of the time than a month of the new plan has', () => {
    const { row } = buy(pro)
    const change = { from: pro, to: starter, used: 70_000, now: 0 }
    assert.deepEqual(requestsAfterRestart(row, change), { notBefore: 0.45 * PERIOD })
    const then = requestsAfterRestart(row, { ...change, now: 0.45 * PERIOD })
    assert.deepEqual(then, { requests: 0, until: monthFrom(0.45 * PERIOD, 0.45 * PERIOD).end })
  })
})
