import type Stripe from 'stripe'
import { setUpCard } from '../resources/cards.ts'
import type { CardBehaviour } from '../state.ts'
import { getRow, type World } from '../world.ts'

export type ChargeOutcome = 'paid' | 'declined' | 'requires-action'

/** A card, and whether its holder confirms the payment to the bank (3-D Secure). */
export interface Payment {
  /** null: no card is set. */
  readonly method: string | null
  readonly authentication: 'none' | 'confirmed'
}

/** Charges the card. A bank that asks only once remembers that the customer has confirmed. */
export function chargeCard(world: World, { method, authentication }: Payment): ChargeOutcome {
  const behaviour = method === null ? undefined : world.state.cards.get(method)
  const outcome = outcomeOf(behaviour, authentication)
  if (method !== null && outcome === 'paid') setUpCard(world, method)
  return outcome
}

/** The outcome of a charge that the customer does not confirm. */
export function expectedOutcome(world: World, subscription: Stripe.Subscription): ChargeOutcome {
  const method = defaultMethod(world, subscription)
  return chargeCard(world, { method, authentication: 'none' })
}

/** The payment method of the subscription, or else that of its customer. */
export function defaultMethod(
  world: World,
  { default_payment_method, customer }: Stripe.Subscription,
): string | null {
  if (default_payment_method !== null) return String(default_payment_method)
  const settings = getRow(world, 'customers', String(customer)).invoice_settings
  return settings.default_payment_method === null ? null : String(settings.default_payment_method)
}

function outcomeOf(
  behaviour: CardBehaviour | undefined,
  authentication: Payment['authentication'],
): ChargeOutcome {
  if (behaviour === undefined || behaviour === 'declines') return 'declined'
  if (behaviour === 'pays') return 'paid'
  if (authentication === 'none') return 'requires-action'
  return behaviour === 'asks-then-declines' ? 'declined' : 'paid'
}
