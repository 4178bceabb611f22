import type Stripe from 'stripe'
import type { StripeCalls } from './stripe-calls.ts'
import { ifMissing } from './stripe-refusal.ts'

/** Ends subscriptions now. A subscription that no longer exists is left alone. */
export function endingCalls({ write }: StripeCalls) {
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
