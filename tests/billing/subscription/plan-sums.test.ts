import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import * as v from 'valibot'
import { ProrationPreview } from '../../../lib/contract/billing/billing-schemas.ts'
import { DAY, netOf, openShop, SUBSCRIPTION, use } from '../shop.ts'

/*
 * The sums of plan changes, worked out on paper as docs/billing.md says: whole cents, seconds and requests, and
 * nothing of the product's arithmetic. Starter has 25,000 requests for 900 cents, Pro 100,000 for 2,900. The
 * period is the 31 days from 15 January 2026.
 */

const PRICE = { starter: 900n, pro: 2_900n }
const END = 31n * BigInt(DAY)

type PlanId = keyof typeof PRICE

/** Times are seconds since the period began. */
interface Paper {
  readonly plan: PlanId
  /** In cents, less what was credited. */
  readonly paid: bigint
  /** What the plan was last charged, from when to the end of the period. */
  readonly charge: { readonly cents: bigint; readonly from: bigint }
  /** Since when Pro is or was charged without a break. */
  readonly since: bigint
}

const buyOnPaper = (plan: PlanId): Paper => ({
  plan,
  paid: PRICE[plan],
  charge: { cents: PRICE[plan], from: 0n },
  since: 0n,
})

function changeOnPaper(paper: Paper, to: PlanId, now: bigint, used: bigint): Paper {
  if (to === paper.plan) return paper
  const { cents, from } = paper.charge
  const earliest = max(from, now)
  const additional = min(max(used - 25_000n, 0n), 75_000n)
  // A downgrade that is taken back before its credit begins leaves no trace.
  const since = to === 'starter' || from > now ? paper.since : now
  const usedUntil = since + divideUp(additional * (END - since), 75_000n)
  const at = to === 'starter' ? max(earliest, min(usedUntil, END - 1n)) : earliest
  const credit = divideRound(cents * (END - at), END - from)
  const charge = { cents: divideRound(PRICE[to] * (END - at), END), from: at }
  return { plan: to, paid: paper.paid - credit + charge.cents, charge, since }
}

const min = (a: bigint, b: bigint) => (a < b ? a : b)
const max = (a: bigint, b: bigint) => (a > b ? a : b)
const divideUp = (a: bigint, b: bigint) => (a + b - 1n) / b
/** Half a cent counts as one. */
const divideRound = (a: bigint, b: bigint) => (2n * a + b) / (2n * b)

const Plan = fc.constantFrom<PlanId>('starter', 'pro')
const Step = fc.record({
  seconds: fc.oneof(fc.constant(0), fc.nat(4 * DAY)),
  requests: fc.oneof(fc.constant(0), fc.constant(37_500), fc.nat(60_000)),
  to: Plan,
})

describe('the sum of any plan changes in a period', () => {
  it('is that on paper, to the cent, and that of its preview', async () => {
    const story = fc.asyncProperty(Plan, fc.array(Step, { maxLength: 7 }), async (first, steps) => {
      await using shop = await openShop()
      await shop.buy(first)
      let paper = buyOnPaper(first)
      let [now, used] = [0, 0]
      for (const { seconds, requests, to } of steps) {
        shop.pass(seconds)
        await use(shop, requests)
        now += seconds
        used += requests
        const { body } = await shop.send('GET', `${SUBSCRIPTION}/preview?planId=${to}`)
        const shown = v.parse(ProrationPreview, body).lines
        const { status, text } = await shop.send('PUT', SUBSCRIPTION, { planId: to })
        assert.equal(status, 200, text)
        const before = paper.paid
        paper = changeOnPaper(paper, to, BigInt(now), BigInt(used))
        assert.equal(BigInt(netOf(shop)), paper.paid)
        const sum = shown.reduce((total, { amount }) => total + amount, 0)
        assert.equal(BigInt(sum), paper.paid - before)
      }
    })
    await fc.assert(story, { numRuns: 25 })
  })
})
