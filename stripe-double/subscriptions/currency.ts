import type Stripe from 'stripe'
import { badRequest } from '../http/stripe-error.ts'
import type { World } from '../world.ts'

interface Choice {
  readonly customer: Stripe.Customer
  readonly prices: readonly Stripe.Price[]
  /** undefined: that of the customer, or else of the price. */
  readonly currency: string | undefined
}

/**
 * Returns the currency of a new subscription. Throws Stripe's 400 if a price is not offered in it, or
 * if the customer pays in another one.
 */
export function chooseCurrency(world: World, { customer, prices, currency }: Choice): string {
  const own = customer.currency ?? undefined
  const wanted = currency?.toLowerCase() ?? own ?? prices[0]?.currency ?? 'usd'
  for (const price of prices) requireOffered(world, price, wanted)
  if (own === undefined || own === wanted) return wanted
  throw badRequest(
    `You cannot combine currencies on a single customer. This customer has an active subscription, subscription schedule, discount, quote, or invoice item with currency ${own}`,
  )
}

export function requireOffered(world: World, price: Stripe.Price, currency: string): void {
  const offered = Object.keys(world.state.currencyOptions.get(price.id) ?? {})
  if (offered.includes(currency)) return
  const names = offered.map((name) => `\`${name}\``).join(', ')
  throw badRequest(
    `The price specified only supports ${names}. This doesn't match the expected currency: \`${currency}\`.`,
  )
}
