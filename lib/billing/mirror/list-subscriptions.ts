import type { Billing } from '../billing.ts'
import type { StripeSubscription } from '../stripe/stripe-subscription.ts'

/** All subscriptions that are not canceled, by customer. Each page has its own time limit. */
export async function listAllSubscriptions(
  billing: Billing,
  isStopped: () => boolean = () => false,
): Promise<Map<string, StripeSubscription[]>> {
  const all: StripeSubscription[] = []
  let after: string | null = null
  do {
    const page = await billing.openStripe().listSubscriptions(after)
    all.push(...page.subscriptions)
    after = page.next
  } while (after !== null && !isStopped())
  return Map.groupBy(all, ({ customerId }) => customerId)
}
