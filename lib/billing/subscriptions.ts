import { subscriptions } from '../db/billing-tables.ts'
import { eq } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import type { Statement } from '../db/unit.ts'
import { givesAccess } from '../entitlement.ts'

/** The subscription that counts for a user, as the payment processor last told. */
export type SubscriptionRow = typeof subscriptions.$inferSelect

export async function findSubscription(db: Db, userId: string): Promise<SubscriptionRow | null> {
  return db.select().from(subscriptions).where(eq(subscriptions.userId, userId)).get() ?? null
}

export function saveSubscription(db: Db, row: SubscriptionRow): Statement {
  return db
    .insert(subscriptions)
    .values(row)
    .onConflictDoUpdate({ target: subscriptions.userId, set: row })
}

export function deleteSubscription(db: Db, userId: string): Statement {
  return db.delete(subscriptions).where(eq(subscriptions.userId, userId))
}

/** As Stripe names it, or canceling. */
export function statusOf({ status, cancelAt }: SubscriptionRow): string {
  return givesAccess(status) && cancelAt !== null ? 'canceling' : status
}
