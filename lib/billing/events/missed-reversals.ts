import { StripeEvent } from '../../contract/billing/billing-schemas.ts'
import { DAY_MS } from '../../parts/durations.ts'
import { parse } from '../../parts/parse.ts'
import type { Billing } from '../billing.ts'
import type { Overages } from '../overages/overages.ts'
import { StripeDenial } from '../stripe/stripe-refusal.ts'
import { applyEvent } from './receive-event.ts'

/** Stripe lists events for this long. */
const LISTED_MS = 30 * DAY_MS

/**
 * Applies the refunds and disputes of the last 30 days whose events did not arrive. Unlike other events,
 * no comparison of subscriptions would show them. Does nothing if the key may not read them.
 */
export async function applyMissedReversals(
  receiver: { readonly billing: Billing; readonly overages: Pick<Overages, 'reportAll'> },
  now: number,
): Promise<void> {
  const { billing } = receiver
  try {
    for (const event of await billing.openStripe().listReversalEvents(now - LISTED_MS)) {
      await applyEvent(receiver, parse(StripeEvent, event), now)
    }
  } catch (error) {
    if (!(error instanceof StripeDenial)) throw error
  }
}
