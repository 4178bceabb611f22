import { billingCustomers } from '../../db/billing-tables.ts'
import { and, eq, integerOf, sql } from '../../db/drizzle.ts'
import type { Db } from '../../db/open.ts'
import { users } from '../../db/tables.ts'
import type { Statement } from '../../db/transaction.ts'
import type { Billing } from '../billing.ts'
import { hasCustomer } from '../stripe/customers.ts'
import type { EventSubject } from '../stripe/events.ts'
import { BillingUnavailable } from '../stripe/stripe-refusal.ts'

/** A user's customer at Stripe. */
export type CustomerRow = typeof billingCustomers.$inferSelect

/** Stripe does not know a customer of ours, not even as deleted. */
export class UnknownCustomer extends BillingUnavailable {}

export async function findCustomer(db: Db, userId: string): Promise<CustomerRow | null> {
  const row = await db
    .select()
    .from(billingCustomers)
    .where(eq(billingCustomers.userId, userId))
    .get()
  return row ?? null
}

/**
 * Returns the user of the customer. If our database lacks the customer, as after restoring a backup,
 * assigns it to the user that our metadata at Stripe names. null: that user is unknown or has another
 * customer, or Stripe does not know this one.
 */
export async function findOrAssign(
  { db, change, openStripe }: Billing,
  { customer, user }: EventSubject,
  now: number,
): Promise<string | null> {
  const { customerId } = billingCustomers
  const known = await db.select().from(billingCustomers).where(eq(customerId, customer)).get()
  if (known !== undefined) return known.userId
  if (user === null) return null
  // Whoever can send signed events may not name customers of another account.
  if (!(await hasCustomer(openStripe(), customer))) return null
  const row = { userId: user, customerId: customer, createdAt: now }
  return (await change([insertCustomer(db, row)])) ? user : null
}

export async function listCustomers(db: Db): Promise<CustomerRow[]> {
  return db.select().from(billingCustomers).all()
}

/** Changes nothing if the user does not exist, or if another row has the user or the customer. */
export function insertCustomer(
  db: Db,
  { userId, customerId, createdAt }: Omit<CustomerRow, 'revision'>,
): Statement {
  return db
    .insert(billingCustomers)
    .select(
      sql`SELECT id, ${customerId}, 0, ${integerOf(createdAt)} FROM ${users} WHERE id = ${userId}`,
    )
    .onConflictDoNothing()
}

/** Also deletes the subscription. Changes nothing if the row has changed since it was read. */
export function deleteCustomer(db: Db, { userId, revision }: CustomerRow): Statement {
  return db.delete(billingCustomers).where(isAt(userId, revision))
}

/** Changes nothing if another sync has finished since the row was read. */
export function bumpRevision(db: Db, { userId, revision }: CustomerRow): Statement {
  return db
    .update(billingCustomers)
    .set({ revision: revision + 1 })
    .where(isAt(userId, revision))
}

function isAt(userId: string, revision: number) {
  return and(eq(billingCustomers.userId, userId), eq(billingCustomers.revision, revision))
}
