import type { Billing } from '../billing.ts'
import type { StripeGateway } from '../stripe/gateway.ts'
import type { OpenInvoice } from '../stripe/leftovers.ts'
import { type CustomerRow, findCustomer } from './customers.ts'
import { findSubscription, hasAccess } from './subscriptions.ts'

/**
 * Makes the open invoices void that earlier subscriptions have left to a user who has bought a plan again.
 * Nobody waits for it: a failure is logged, and the hourly run repeats it.
 */
export async function voidLeftovers(
  { overagePrice, onDelayed }: Billing,
  stripe: StripeGateway,
  customer: Pick<CustomerRow, 'customerId' | 'userId'>,
): Promise<void> {
  const { userId } = customer
  await stripe
    .voidLeftovers(customer, overagePrice)
    .catch((error) => onDelayed(error, CANNOT_VOID, { userId }))
}

const CANNOT_VOID = 'cannot void the open invoices of an ended subscription'

/** Does the same for all users whose purchase was not followed by it. Each page has its own time limit. */
export async function voidAllLeftovers(billing: Billing): Promise<void> {
  const owners = new Map<string, OpenInvoice>()
  let after: string | null = null
  do {
    const page = await billing.openStripe().listOpen(after)
    for (const invoice of page.invoices) {
      if (await isLeftover(billing, invoice)) owners.set(invoice.userId, invoice)
    }
    after = page.next
  } while (after !== null)
  for (const [userId, invoice] of owners) {
    const stripe = billing.openStripe()
    await billing.enqueue(userId, () => voidLeftovers(billing, stripe, invoice))
  }
}

/** Whether the user of the invoice pays for another subscription now. */
async function isLeftover(
  { db }: Billing,
  { userId, customerId, subscriptionId }: OpenInvoice,
): Promise<boolean> {
  const row = await findSubscription(db, userId)
  if (!hasAccess(row) || row.id === subscriptionId) return false
  return (await findCustomer(db, userId))?.customerId === customerId
}
