import type Stripe from 'stripe'
import { getCoupon } from '../resources/coupons.ts'
import { changeRow, emit, getRow, type World } from '../world.ts'

/** The discounts among `ids` that hold at `now`. */
export function activeDiscounts(world: World, ids: readonly string[]): Stripe.Discount[] {
  const { discounts } = world.state.tables
  return ids
    .map((id) => getRow(discounts, id, 'discount'))
    .filter(({ end }) => end === null || world.now() < end)
}

/** What the discounts take off each of `amounts`, one after the other; never below zero. */
export function discountAmounts(
  world: World,
  discounts: readonly Stripe.Discount[],
  amounts: readonly number[],
): { amount: number; discount: string }[][] {
  const left = amounts.map((amount) => Math.max(0, amount))
  const taken = amounts.map((): { amount: number; discount: string }[] => [])
  for (const discount of discounts) {
    const coupon = getCoupon(world, String(discount.source.coupon))
    let budget = coupon.amount_off ?? Infinity
    for (const [index, rest] of left.entries()) {
      const amount = Math.min(rest, budget, percentOf(rest, coupon))
      budget -= amount
      left[index] = rest - amount
      if (amount > 0) taken[index]?.push({ amount, discount: discount.id })
    }
  }
  return taken
}

/** Takes coupons that hold once away from the subscription whose invoice they reduced. */
export function endOnce(world: World, subscription: Stripe.Subscription, used: Set<string>): void {
  const spent = activeDiscounts(world, subscription.discounts.map(String)).filter(
    ({ id, source }) => used.has(id) && getCoupon(world, String(source.coupon)).duration === 'once',
  )
  if (spent.length === 0) return
  const ids = new Set(spent.map(({ id }) => id))
  const discounts = subscription.discounts.filter((id) => !ids.has(String(id)))
  const { subscriptions } = world.state.tables
  changeRow(world, subscriptions, { row: subscription, changes: { discounts } }, null)
  for (const discount of spent) emit(world, 'customer.discount.deleted', discount)
}

function percentOf(amount: number, { percent_off }: Stripe.Coupon): number {
  return percent_off === null ? amount : Math.round((amount * percent_off) / 100)
}
