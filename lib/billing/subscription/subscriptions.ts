import { givesAccess } from '../../config/entitlement.ts'
import type { AuditAction, AuditNote } from '../../contract/account/audit-actions.ts'
import { planPreviews, subscriptions } from '../../db/billing-tables.ts'
import { eq } from '../../db/drizzle.ts'
import type { Db } from '../../db/open.ts'
import type { Statement } from '../../db/transaction.ts'

/** The subscription that counts for a user, as Stripe last reported it. */
export type SubscriptionRow = typeof subscriptions.$inferSelect

type PreviewRow = typeof planPreviews.$inferSelect

export async function findSubscription(db: Db, userId: string): Promise<SubscriptionRow | null> {
  return (
    (await db.select().from(subscriptions).where(eq(subscriptions.userId, userId)).get()) ?? null
  )
}

export function hasAccess(row: SubscriptionRow | null): row is SubscriptionRow {
  return row !== null && givesAccess(row.status)
}

export function saveSubscription(db: Db, row: typeof subscriptions.$inferInsert): Statement {
  return db
    .insert(subscriptions)
    .values(row)
    .onConflictDoUpdate({ target: subscriptions.userId, set: row })
}

export function deleteSubscription(db: Db, userId: string): Statement {
  return db.delete(subscriptions).where(eq(subscriptions.userId, userId))
}

/** Forgets a pending change that was discarded. Otherwise it would seem to have lapsed. */
export function forgetPending(db: Db, userId: string): Statement {
  return db
    .update(subscriptions)
    .set({ pendingPrice: null })
    .where(eq(subscriptions.userId, userId))
}

/** Returns the last preview of a plan change. */
export async function findPreview(db: Db, userId: string): Promise<PreviewRow | null> {
  return (await db.select().from(planPreviews).where(eq(planPreviews.userId, userId)).get()) ?? null
}

export function savePreview(db: Db, row: PreviewRow): Statement {
  return db
    .insert(planPreviews)
    .values(row)
    .onConflictDoUpdate({ target: planPreviews.userId, set: row })
}

export function deletePreview(db: Db, userId: string): Statement {
  return db.delete(planPreviews).where(eq(planPreviews.userId, userId))
}

/** Stripe's status, or `canceling`. */
export function statusOf({ status, cancelAt }: SubscriptionRow): string {
  return givesAccess(status) && cancelAt !== null ? 'canceling' : status
}

export function toNote(action: AuditAction, { id }: SubscriptionRow, detail?: string): AuditNote {
  return { action, targetType: 'subscription', targetId: id, detail }
}
