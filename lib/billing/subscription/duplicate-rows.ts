import type { AuditNote } from '../../contract/account/audit-actions.ts'
import { duplicateSubscriptions } from '../../db/billing-tables.ts'
import { asc, eq } from '../../db/drizzle.ts'
import type { Db } from '../../db/open.ts'
import type { Queries } from '../../db/queries.ts'
import { users } from '../../db/tables.ts'
import type { Statement } from '../../db/transaction.ts'

/** A subscription that charges a user in addition to the one that counts. */
export type DuplicateRow = typeof duplicateSubscriptions.$inferSelect

export async function listDuplicates(db: Db, userId: string): Promise<DuplicateRow[]> {
  const { id, userId: owner } = duplicateSubscriptions
  return db.select().from(duplicateSubscriptions).where(eq(owner, userId)).orderBy(asc(id)).all()
}

/** The duplicates of all users, with the users' addresses. */
export async function listAllDuplicates(
  db: Queries,
): Promise<(DuplicateRow & { email: string })[]> {
  const { id, userId, plan, status, periodEnd } = duplicateSubscriptions
  const { email } = users
  return db
    .select({ id, userId, plan, status, periodEnd, email })
    .from(duplicateSubscriptions)
    .innerJoin(users, eq(users.id, userId))
    .orderBy(asc(email), asc(id))
    .all()
}

/** Statements that make `rows` the user's duplicates. */
export function replaceDuplicates(
  db: Db,
  userId: string,
  rows: readonly DuplicateRow[],
): Statement[] {
  return [
    db.delete(duplicateSubscriptions).where(eq(duplicateSubscriptions.userId, userId)),
    ...rows.map((row) => db.insert(duplicateSubscriptions).values(row).onConflictDoNothing()),
  ]
}

export function toDuplicateNote(
  action: 'end_duplicate' | 'find_duplicate',
  { id, plan }: DuplicateRow,
): AuditNote {
  return { action, targetType: 'subscription', targetId: id, detail: plan }
}
