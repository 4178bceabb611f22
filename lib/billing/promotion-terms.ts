import type Stripe from 'stripe'

/** Whether the code may be used by the customer: most are for everybody. */
export function isFor({ customer }: Stripe.PromotionCode, id: string): boolean {
  if (customer === null) return true
  return (typeof customer === 'string' ? customer : customer.id) === id
}

/**
 * Whether the code takes something off what the subscription costs. Stripe checks a minimum and the
 * products in its checkout, but not where a subscription is updated.
 */
export function isApplicable(
  { promotion, restrictions }: Stripe.PromotionCode,
  { currency, items }: Stripe.Subscription,
): boolean {
  const prices = items.data.map(({ price, quantity = 0 }) => ({ ...price, quantity }))
  const { coupon } = promotion
  const products = typeof coupon === 'object' ? coupon?.applies_to?.products : undefined
  if (products !== undefined && !prices.some((price) => products.includes(productOf(price)))) {
    return false
  }
  const { minimum_amount: minimum, minimum_amount_currency } = restrictions
  if (minimum === null || minimum_amount_currency !== currency) return true
  return (
    prices.reduce((sum, price) => sum + (price.unit_amount ?? 0) * price.quantity, 0) >= minimum
  )
}

function productOf({ product }: Pick<Stripe.Price, 'product'>): string {
  return typeof product === 'string' ? product : product.id
}
