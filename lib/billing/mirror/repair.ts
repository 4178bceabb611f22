import type { AuditNote } from '../../contract/account/audit-actions.ts'
import type { Statement } from '../../db/transaction.ts'
import type { Billing } from '../billing.ts'
import {
  deleteCustomer,
  findCustomer,
  insertCustomer,
  listCustomers,
} from '../subscription/customers.ts'
import { auditSync, sync } from '../subscription/sync.ts'
import type { Mismatch } from './inspect.ts'
import { saveStripeAccount } from './stripe-account.ts'

export interface RepairOptions {
  /** Epoch milliseconds. */
  readonly now: number
  readonly audit: (userId: string, note: AuditNote) => readonly Statement[]
}

/** Repairs the mismatches that can be repaired, and returns them. A server may run meanwhile. */
export async function repair(
  billing: Billing,
  mismatches: readonly Mismatch[],
  options: RepairOptions,
): Promise<Mismatch[]> {
  const { audit } = options
  const repaired: Mismatch[] = []
  for (const mismatch of mismatches) {
    const { user, repair: how } = mismatch
    if (how === null || user === null) continue
    if (how === 'assign' && !(await assign(billing, mismatch, options))) continue
    const ownNotes = how === 'resync' ? audit(user, toResyncNote(mismatch)) : []
    await sync(billing, billing.openStripe(), user, (result) => [
      ...ownNotes,
      ...auditSync(billing, user, result),
    ])
    repaired.push(mismatch)
  }
  return repaired
}

function toResyncNote({ customer, detail }: Mismatch): AuditNote {
  return { action: 'resync_subscription', targetType: 'customer', targetId: customer, detail }
}

/** Assigns the customer to the user that our metadata names. Returns false if something has changed. */
async function assign(
  { db, change }: Billing,
  { user, customer }: Mismatch,
  { now, audit }: RepairOptions,
): Promise<boolean> {
  if (user === null || customer === null) return false
  const insert = insertCustomer(db, { userId: user, customerId: customer, createdAt: now })
  const note = { action: 'assign_customer', targetType: 'customer', targetId: customer } as const
  const old = await findCustomer(db, user)
  if (old === null) return change([insert, ...audit(user, note)])
  return change([deleteCustomer(db, old), insert, ...audit(user, note)])
}

/**
 * Stores the account and mode of the key as those of our customers. Deletes customers that this account
 * does not have: their plans end, and their users can buy again. Returns the ids of these customers.
 */
export async function acceptStripeAccount(
  billing: Billing,
  { audit }: RepairOptions,
): Promise<string[]> {
  const { db, change, alignKeyExpiry } = billing
  await change([saveStripeAccount(db, await billing.readStripeAccount())])
  const released: string[] = []
  for (const customer of await listCustomers(db)) {
    const { userId, customerId } = customer
    if (await billing.openStripe().hasCustomer(customerId)) continue
    const note = {
      action: 'release_customer',
      targetType: 'customer',
      targetId: customerId,
    } as const
    const statements = [alignKeyExpiry(userId), ...audit(userId, note)]
    if (await change([deleteCustomer(db, customer), ...statements])) released.push(customerId)
  }
  return released
}
