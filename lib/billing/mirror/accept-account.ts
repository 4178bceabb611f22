import type { AuditNote } from '../../contract/account/audit-actions.ts'
import type { Statement } from '../../db/transaction.ts'
import type { Billing } from '../billing.ts'
import { hasCustomer } from '../stripe/customers.ts'
import { deleteCustomer, listCustomers } from '../subscription/customers.ts'
import { saveStripeAccount } from './stripe-account.ts'

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
