import type { StripeDouble } from '../../stripe-double/double.ts'
import { newSecretKey, newSigningSecret } from '../../stripe-double/ids.ts'
import { seedPlans } from '../../stripe-double/plans.ts'
import { PLANS } from '../parts/servers.ts'

/** The settings of a server that sells the benchmark's plans through the double of Stripe. */
export function stripeSettings(double: StripeDouble) {
  const prices = seedPlans(double.world, PLANS)
  return {
    STRIPE_SECRET_KEY: newSecretKey(),
    STRIPE_WEBHOOK_SECRET: newSigningSecret(),
    STRIPE_API_BASE: double.url,
    STRIPE_PRICE_PRO: prices.plans.get('pro') ?? '',
    STRIPE_PRICE_OVERAGE: prices.overage,
  }
}
