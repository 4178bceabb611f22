import { billingCustomers } from '../../db/billing-tables.ts'
import { asc } from '../../db/drizzle.ts'
import type { Db } from '../../db/open.ts'
import type { Billing } from '../billing.ts'
import { findStripeAccount, saveStripeAccount } from './stripe-account.ts'

/** How many customers we look for at Stripe: some may have been deleted with an account's test data. */
const SAMPLE = 5

/**
 * Stores the account of the key once we know that it has one of our oldest customers. A later start with
 * the key of another account then changes nothing. Throws WrongStripeAccount if this is such a start.
 */
export async function learnStripeAccount(billing: Billing): Promise<void> {
  await billing.requireStripeAccount()
  const known = await findStripeAccount(billing.db)
  if (known !== null && known.account !== null) return
  const account = await billing.readStripeAccount()
  if (known !== null && account.account === null) return
  const stripe = billing.openStripe()
  for (const customerId of await listOldest(billing.db)) {
    if (!(await stripe.hasCustomer(customerId))) continue
    await billing.change([saveStripeAccount(billing.db, account)])
    return
  }
}

async function listOldest(db: Db): Promise<string[]> {
  const { customerId, createdAt } = billingCustomers
  const rows = await db
    .select({ customerId })
    .from(billingCustomers)
    .orderBy(asc(createdAt))
    .limit(SAMPLE)
    .all()
  return rows.map((row) => row.customerId)
}
