import type Stripe from 'stripe'
import type { World } from '../world.ts'

/** The subscription that the invoice is for, or null. */
export function subscriptionOf(world: World, invoice: Stripe.Invoice): Stripe.Subscription | null {
  const id = invoice.parent?.subscription_details?.subscription
  return world.state.tables.subscriptions.get(String(id)) ?? null
}
