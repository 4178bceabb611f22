import { billingCustomers } from '../db/billing-tables.ts'
import { and, eq, sql } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import { users } from '../db/tables.ts'
import type { Statement } from '../db/unit.ts'

/** A user as a customer of the payment processor. */
export type CustomerRow = typeof billingCustomers.$inferSelect

export async function findCustomer(db: Db, userId: string): Promise<CustomerRow | null> {
  const row = db.select().from(billingCustomers).where(eq(billingCustomers.userId, userId)).get()
  return row ?? null
}

export async function findCustomerById(db: Db, customerId: string): Promise<CustomerRow | null> {
  const { customerId: column } = billingCustomers
  return db.select().from(billingCustomers).where(eq(column, customerId)).get() ?? null
}

export async function listCustomers(db: Db): Promise<CustomerRow[]> {
  return db.select().from(billingCustomers).all()
}

/** Does nothing where there is no such user, and where user or customer has another already. */
export function insertCustomer(
  db: Db,
  { userId, customerId, createdAt }: Omit<CustomerRow, 'revision'>,
): Statement {
  return db
    .insert(billingCustomers)
    .select(
      db
        .select({
          userId: users.id,
          customerId: sql<string>`${customerId}`.as('customer_id'),
          revision: sql<number>`0`.as('revision'),
          createdAt: sql<number>`${createdAt}`.as('created_at'),
        })
        .from(users)
        .where(eq(users.id, userId)),
    )
    .onConflictDoNothing()
}

/** With the subscription. */
export function deleteCustomer(db: Db, { userId, revision }: CustomerRow): Statement {
  return db.delete(billingCustomers).where(isAt(userId, revision))
}

/** Changes nothing where something was taken over since the row was read. */
export function takeTurn(db: Db, { userId, revision }: CustomerRow): Statement {
  return db
    .update(billingCustomers)
    .set({ revision: revision + 1 })
    .where(isAt(userId, revision))
}

function isAt(userId: string, revision: number) {
  return and(eq(billingCustomers.userId, userId), eq(billingCustomers.revision, revision))
}
