import type Stripe from 'stripe'
import { badRequest } from '../http/stripe-error.ts'
import { newId } from '../ids.ts'
import { mergeMetadata } from '../resources/metadata.ts'
import { getPrice, isMetered } from '../resources/prices.ts'
import type { World } from '../world.ts'
import type { Basis, ItemParam } from './item-params.ts'

/** An item that `param`, the one at `index`, adds. */
export function newItem(
  world: World,
  param: ItemParam,
  { basis, index }: { basis: Basis; index: number },
): Stripe.SubscriptionItem {
  const name = `items[${index}][price]`
  const price = priceFor(world, param, name)
  if (price === null) {
    throw badRequest(`Missing required param: ${name}.`, { code: 'parameter_missing', param: name })
  }
  if (isMetered(price) && param.quantity !== undefined) {
    const more = { param: `items[${index}][quantity]` }
    throw badRequest('Metered prices do not take a quantity', more)
  }
  return {
    id: newId('si', 14),
    object: 'subscription_item',
    billing_thresholds: null,
    created: world.now(),
    current_period_end: basis.period.end,
    current_period_start: basis.period.start,
    current_trial: null,
    discounts: [],
    metadata: mergeMetadata({}, param.metadata),
    plan: toPlan(price),
    price,
    ...(!isMetered(price) && { quantity: param.quantity ?? 1 }),
    subscription: basis.subscription,
    tax_rates: [],
  }
}

/** The price that is asked for, or null where none is. */
export function priceFor(world: World, { price }: ItemParam, param: string): Stripe.Price | null {
  if (price === undefined) return null
  const found = getPrice(world, price, param)
  if (!found.active) throw badRequest(`The price specified is inactive: ${price}`, { param })
  if (found.recurring !== null) return found
  throw badRequest(`The price specified is not recurring: ${price}`, { param })
}

/** The old name of a price, which items still carry. */
export function toPlan(price: Stripe.Price): Stripe.Plan {
  const { recurring } = price
  return {
    id: price.id,
    object: 'plan',
    active: price.active,
    amount: price.unit_amount,
    amount_decimal: price.unit_amount_decimal,
    billing_scheme: price.billing_scheme,
    created: price.created,
    currency: price.currency,
    interval: recurring?.interval ?? 'month',
    interval_count: recurring?.interval_count ?? 1,
    livemode: false,
    metadata: price.metadata,
    meter: recurring?.meter ?? null,
    nickname: price.nickname,
    product: price.product,
    tiers_mode: null,
    transform_usage: null,
    trial_period_days: null,
    usage_type: recurring?.usage_type ?? 'licensed',
  }
}
