import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { changeTime, restartTime } from '../../../lib/billing/subscription/proration.ts'
import { type Plan, readPlans } from '../../../lib/config/plans.ts'

const { free, find } = readPlans(undefined)
const starter = find('starter') ?? free
const pro = find('pro') ?? free
/** Third paid plans, whose additional requests cost more or less than those of Pro. */
const big: Plan = { ...pro, id: 'big', price: 99, monthlyCap: 300_000 }
const bulk: Plan = { ...pro, id: 'bulk', price: 49, monthlyCap: 300_000 }
/** It has no more requests than Pro, but more of something else. */
const team: Plan = { ...pro, id: 'team', price: 39 }
const LADDERS = [
  [starter, pro],
  [starter, pro, big],
  [starter, pro, bulk],
  [starter, pro, team, big],
] as const

const DAY = 86_400_000
const PERIOD = 31 * DAY
const MONTH = { periodStart: 0, periodEnd: PERIOD, interval: 'month', chargedFrom: '' } as const

interface Held {
  readonly plans: readonly Plan[]
  readonly now: number
  readonly used: number
  readonly plan: Plan
  readonly row: Parameters<typeof changeTime>[0]
  /** In dollars, as Stripe charges and credits: by time. */
  readonly paid: number
}

const buy = (plan: Plan, plans: readonly Plan[] = LADDERS[1]): Held => ({
  plans,
  now: 0,
  used: 0,
  plan,
  row: MONTH,
  paid: plan.price,
})

const use = (state: Held, requests: number): Held => ({ ...state, used: state.used + requests })

const pass = (state: Held, ms: number): Held => ({
  ...state,
  now: Math.min(state.now + Math.floor(ms / 1000) * 1000, PERIOD - 1000),
})

/** Null if the change is refused. */
function tryChange(state: Held, to: Plan): Held | null {
  const { plan: from, used, now, row } = state
  if (from === to) return state
  const time = changeTime(row, { plans: { list: [free, ...state.plans] }, from, to, used, now })
  if ('notBefore' in time) return null
  const { at, chargedFrom } = time
  assert.ok(at >= now && at < PERIOD, `charged at ${at}, changed at ${now}`)
  const paid = state.paid + ((to.price - from.price) * (PERIOD - at)) / PERIOD
  return { ...state, plan: to, row: { ...row, chargedFrom }, paid }
}

function changeTo(state: Held, to: Plan): Held {
  const after = tryChange(state, to)
  assert.ok(after, `refused: ${state.plan.id} to ${to.id}`)
  return after
}

const Step = fc.record({
  waitMs: fc.oneof(fc.constant(0), fc.nat(PERIOD / 4)),
  requests: fc.oneof(fc.constant(0), fc.constant(300_000), fc.nat(120_000)),
  to: fc.nat(3),
})
const Steps = fc.array(Step, { maxLength: 10 })
const Ladder = fc.constantFrom(...LADDERS)

const planAt = (plans: readonly Plan[], n: number): Plan => plans[n % plans.length] ?? starter

type Step = typeof Step extends fc.Arbitrary<infer T> ? T : never

/** Null if a step is refused. */
function play(state: Held | null, steps: readonly Step[]): Held | null {
  return steps.reduce<Held | null>(
    (held, { waitMs, requests, to }) =>
      held && tryChange(use(pass(held, waitMs), requests), planAt(held.plans, to)),
    state,
  )
}

/** More than the seconds cost to which the times of changes are rounded, in dollars. */
const CENT_FRACTION = 0.005

/** What Starter and then the plan cost that was taken at `since`, if all its requests are used; else 0. */
function priceSince({ plan, used }: Held, since: number): number {
  if (used < plan.monthlyCap || plan === team) return 0
  return starter.price + (plan.price - starter.price) * ((PERIOD - since) / PERIOD)
}

describe('changes of the plan within a period', () => {
  it('pay for the rest of the period for a plan whose cap was used up', () => {
    fc.assert(
      fc.property(Ladder, fc.nat(3), Steps, (plans, first, steps) => {
        let state = buy(planAt(plans, first), plans)
        let since = 0
        let least = starter.price
        for (const { waitMs, requests, to } of steps) {
          state = use(pass(state, waitMs), requests)
          least = Math.max(least, priceSince(state, since))
          const after = tryChange(state, planAt(plans, to)) ?? state
          if (after.plan !== state.plan) since = state.now
          state = after
        }
        const { paid } = tryChange(state, starter) ?? state
        assert.ok(paid >= least - CENT_FRACTION, `paid ${paid}, at least ${least}`)
      }),
      { numRuns: 5_000 },
    )
  })

  it('cost no less by a detour than directly', () => {
    const Detour = fc.array(fc.nat(3), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(Ladder, fc.nat(3), Steps, Detour, fc.nat(3), (...story) => {
        const [plans, first, before, detour, to] = story
        const state = play(buy(planAt(plans, first), plans), before)
        if (state === null) return
        const around = detour.reduce((held, n) => tryChange(held, planAt(plans, n)) ?? held, state)
        const one = tryChange(state, planAt(plans, to))
        const other = tryChange(around, planAt(plans, to))
        if (one === null || other === null) return
        assert.ok(other.paid >= one.paid - CENT_FRACTION, `${other.paid} for ${one.paid}`)
      }),
      { numRuns: 5_000 },
    )
  })

  it('cost nothing more when they lead back to a plan that is paid for already', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...LADDERS[1]),
        fc.nat(300_000),
        fc.nat(PERIOD),
        (plan, used, ms) => {
          const before = pass(use(buy(big), used), ms)
          const back = changeTo(changeTo(before, plan), big)
          assert.ok(Math.abs(back.paid - big.price) < CENT_FRACTION, `paid ${back.paid}`)
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it('leave no trace when they lead back before the credit begins', () => {
    fc.assert(
      fc.property(Ladder, fc.nat(300_000), fc.nat(PERIOD), fc.nat(3), (plans, used, ms, n) => {
        const dearest = planAt(plans, plans.length - 1)
        const idle = pass(buy(dearest, plans), ms)
        const down = changeTo(use(idle, used), planAt(plans, n))
        // Its credit begins now: the requests count again at a return.
        if (down.paid === changeTo(idle, planAt(plans, n)).paid) return
        const again = changeTo(changeTo(down, dearest), planAt(plans, n))
        assert.ok(Math.abs(again.paid - down.paid) < CENT_FRACTION, `${again.paid}, ${down.paid}`)
      }),
      { numRuns: 2_000 },
    )
  })

  it('cost as much after a way down and up as directly', () => {
    const spent = pass(use(buy(pro), 100_000), PERIOD / 2)
    const direct = changeTo(changeTo(spent, big), pro)
    const around = [starter, pro, big, pro].reduce(changeTo, spent)
    assert.ok(Math.abs(around.paid - direct.paid) < CENT_FRACTION, `paid ${around.paid}`)
    assert.ok(Math.abs(direct.paid - 29) < CENT_FRACTION, `paid ${direct.paid}`)
  })

  it('charge the larger plan from now on after a downgrade that credited nothing', () => {
    const down = changeTo(pass(use(buy(pro), 100_000), PERIOD / 2), starter)
    assert.ok(Math.abs(down.paid - 29) < CENT_FRACTION)
    // Pro is paid up to the end: with another plan, its time would be paid twice, or the larger plan not at all.
    assert.equal(tryChange(down, big), null)
    const back = changeTo(down, pro)
    assert.ok(Math.abs(back.paid - 29) < CENT_FRACTION)
    // 99 - 29 = 70 dollars, for half of the period.
    assert.ok(Math.abs(changeTo(back, big).paid - (29 + 35)) < CENT_FRACTION)
  })

  it('credit no more after a detour by a larger plan than without it', () => {
    const spent = pass(use(buy(pro), 100_000), PERIOD / 2)
    const detour = changeTo(changeTo(spent, big), starter)
    assert.ok(Math.abs(detour.paid - 29) < CENT_FRACTION, `paid ${detour.paid}`)
  })

  it('heed the metadata of earlier releases, which had a time for each plan', () => {
    const at = 20 * DAY
    const held = { ...buy(starter), row: { ...MONTH, chargedFrom: `pro=${at / 1000} big=86400` } }
    assert.equal(tryChange(held, big), null)
    const back = changeTo(held, pro)
    assert.ok(Math.abs(back.paid - (9 + (20 * 11) / 31)) < CENT_FRACTION)
    const both = { ...held.row, chargedFrom: `pro=${at / 1000} big=${at / 1000}` }
    assert.ok(tryChange({ ...held, row: both }, big))
  })
})

describe('the time from which a change of plan is charged', () => {
  it('in a paid year is at most the end of the month in which the requests were used', () => {
    const [periodStart, april, may] = [0, 3, 4].map((month) => Date.UTC(2026, month))
    assert.ok(periodStart !== undefined && april !== undefined && may !== undefined)
    const periodEnd = Date.UTC(2027, 0)
    const year = { ...MONTH, periodStart, periodEnd, interval: 'year' } as const
    const change = { plans: { list: [free, ...LADDERS[0]] }, from: pro, to: starter, now: april }
    const atUse = (used: number) => {
      const time = changeTime(year, { ...change, used })
      return 'at' in time ? time.at : null
    }
    assert.equal(atUse(25_000), april)
    // Half of the 75,000 additional requests.
    assert.equal(atUse(62_500), (april + may) / 2)
    assert.equal(atUse(100_000), may - 1000)
  })
})

describe('a change of the interval', () => {
  const timeOf = ({ row, plan: from, plans, used, now }: Held) =>
    restartTime(row, { plans: { list: [free, ...plans] }, from, used, now })

  const paidUntil = ({ paid, plan }: Held, at: number) =>
    paid - (plan.price * (PERIOD - at)) / PERIOD

  it('is possible once the time passed has paid for the requests used', () => {
    assert.equal(timeOf(buy(pro)), 0)
    // 9 dollars for the first 25,000, and a third of the other 20.
    const at = timeOf(use(buy(pro), 50_000))
    assert.ok(Math.abs(paidUntil(buy(pro), at) - (9 + 20 / 3)) < CENT_FRACTION)
    assert.equal(timeOf(use(buy(pro), 100_000)), PERIOD - 1000)
  })

  it('costs as much after a change to a plan with cheaper requests', () => {
    const changed = changeTo(pass(use(buy(starter), 25_000), PERIOD / 2), pro)
    assert.ok(Math.abs(paidUntil(changed, timeOf(changed)) - 9) < CENT_FRACTION)
  })

  it('waits for the end of the time that is charged already', () => {
    const down = changeTo(use(buy(pro), 40_000), starter)
    // A fifth of the additional requests; then all that Starter has are used, too.
    assert.equal(timeOf(down), PERIOD - 1000)
  })
})
