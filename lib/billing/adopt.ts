import type { Billing } from './billing.ts'
import { findCustomerById, insertCustomer } from './customers.ts'
import type { EventSubject } from './event-subject.ts'

/**
 * The user who is the customer; null: none of ours. One whom we do not know, such as after a backup
 * was restored, becomes the customer of the user whom a subscription names, unless that is another.
 */
export async function findOrAdopt(
  { db, change }: Pick<Billing, 'db' | 'change'>,
  { customer, user }: EventSubject,
  now: number,
): Promise<string | null> {
  const known = await findCustomerById(db, customer)
  if (known !== null) return known.userId
  if (user === null) return null
  const row = { userId: user, customerId: customer, createdAt: now }
  return (await change([insertCustomer(db, row)])) ? user : null
}
