import type { AuditNote } from '../../contract/account/audit-actions.ts'
import { billingCustomers } from '../../db/billing-tables.ts'
import { asc } from '../../db/drizzle.ts'
import type { Db } from '../../db/open.ts'
import type { Statement } from '../../db/transaction.ts'
import type { Billing } from '../billing.ts'
import { hasCustomer } from '../stripe/customers.ts'
import { deleteCustomer, listCustomers } from '../subscription/customers.ts'
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
    if (!(await hasCustomer(stripe, customerId))) continue
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

/**
 * Stores the account and mode of the key as those of our customers. Deletes customers that this account
 * does not have: their plans end, and their users can buy again. Returns the ids of these customers.
 */
export async function acceptStripeAccount(
  billing: Billing,
  audit: (userId: string, note: AuditNote) => Statement,
): Promise<string[]> {
  const { db, change, alignKeyExpiry } = billing
  await change([saveStripeAccount(db, await billing.readStripeAccount())])
  const released: string[] = []
  for (const customer of await listCustomers(db)) {
    const { userId, customerId } = customer
    if (await hasCustomer(billing.openStripe(), customerId)) continue
    const target = { targetType: 'customer', targetId: customerId }
    const note = audit(userId, { action: 'release_customer', ...target })
    if (await change([deleteCustomer(db, customer), alignKeyExpiry(userId), note])) {
      released.push(customerId)
    }
  }
  return released
}
