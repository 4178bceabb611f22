import { billingCustomers } from '../../db/billing-tables.ts'
import { asc } from '../../db/drizzle.ts'
import type { Db } from '../../db/open.ts'
import type { Billing } from '../billing.ts'
import { findOwner, saveOwner } from './owner.ts'

/** Some customers may have been deleted with an account's test data, so we ask for several. */
const WITNESSES = 5

/**
 * Remembers the account of the key once it has one of our oldest customers. A later start with the key
 * of another account then changes nothing. Throws WrongOwner if this is such a start.
 */
export async function learnOwner(billing: Billing): Promise<void> {
  await billing.requireOwner()
  const known = await findOwner(billing.db)
  if (known !== null && known.account !== null) return
  const owner = await billing.readOwner()
  if (known !== null && owner.account === null) return
  const stripe = billing.openStripe()
  for (const customerId of await listWitnesses(billing.db)) {
    if (!(await stripe.hasCustomer(customerId))) continue
    await billing.change([saveOwner(billing.db, owner)])
    return
  }
}

async function listWitnesses(db: Db): Promise<string[]> {
  const { customerId, createdAt } = billingCustomers
  const rows = await db
    .select({ customerId })
    .from(billingCustomers)
    .orderBy(asc(createdAt))
    .limit(WITNESSES)
    .all()
  return rows.map((row) => row.customerId)
}
