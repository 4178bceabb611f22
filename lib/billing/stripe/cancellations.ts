import type Stripe from 'stripe'
import type { StripeCalls } from './stripe-calls.ts'
import { ifMissing } from './stripe-refusal.ts'

/** Calls that end a subscription now. They do nothing if it no longer exists. */
export function cancellationCalls({ write }: StripeCalls) {
  const cancel = async (id: string, params: Stripe.SubscriptionCancelParams): Promise<void> => {
    await write((sdk, options) => sdk.subscriptions.cancel(id, params, options)).catch(
      ifMissing(null),
    )
  }
  return {
    cancelNow: (id: string) => cancel(id, {}),
    /** Credits the unused time to the customer's next invoices. */
    cancelWithCredit: (id: string) => cancel(id, { prorate: true, invoice_now: true }),
  }
}
