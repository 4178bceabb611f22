import type Stripe from 'stripe'
import { changeRow, emit, getRow, type World } from '../world.ts'

/** The discounts of `ids` that have not ended. */
export function activeDiscounts(world: World, ids: readonly string[]): Stripe.Discount[] {
  return ids
    .map((id) => getRow(world, 'discounts', id))
    .filter(({ end }) => end === null || world.now() < end)
}

/** Applies the discounts in order. Returns what they take off each line, never below zero. */
export function discountAmounts(
  world: World,
  discounts: readonly Stripe.Discount[],
  lines: readonly Stripe.InvoiceLineItem[],
): { amount: number; discount: string }[][] {
  const left = lines.map(({ discountable, amount }) => (discountable ? Math.max(0, amount) : 0))
  const taken = lines.map((): { amount: number; discount: string }[] => [])
  for (const discount of discounts) {
    const coupon = getRow(world, 'coupons', String(discount.source.coupon))
    let budget = coupon.amount_off ?? Infinity
    for (const [index, rest] of left.entries()) {
      if (!appliesTo(world, coupon, lines[index]?.pricing?.price_details?.product)) continue
      const amount = Math.min(rest, budget, percentOf(rest, coupon))
      budget -= amount
      left[index] = rest - amount
      if (amount > 0) taken[index]?.push({ amount, discount: discount.id })
    }
  }
  return taken
}

/** Whether the coupon is for the product. */
export function appliesTo(world: World, { id }: Stripe.Coupon, product: unknown): boolean {
  const only = world.state.couponProducts.get(id)?.products
  return only === undefined || only.some((one) => one === product)
}

/** Removes one-time coupons from the subscription once they have reduced an invoice. */
export function endUsedDiscounts(
  world: World,
  subscription: Stripe.Subscription,
  used: Set<string>,
): void {
  const spent = activeDiscounts(world, subscription.discounts.map(String)).filter(
    ({ id, source }) =>
      used.has(id) && getRow(world, 'coupons', String(source.coupon)).duration === 'once',
  )
  if (spent.length === 0) return
  const discounts = subscription.discounts.filter((one) => !spent.some(({ id }) => id === one))
  changeRow(world, subscription, { discounts })
  for (const discount of spent) emit(world, 'customer.discount.deleted', discount)
}

function percentOf(amount: number, { percent_off }: Stripe.Coupon): number {
  return percent_off === null ? amount : Math.round((amount * percent_off) / 100)
}
