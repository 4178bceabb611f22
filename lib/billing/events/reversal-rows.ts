import { desc, inArray } from '../../db/drizzle.ts'
import type { Queries } from '../../db/queries.ts'
import { auditLog } from '../../db/tables.ts'
import { withEmails } from '../../db/user-emails.ts'

const ACTIONS = ['payment_refunded', 'payment_disputed', 'dispute_closed'] as const

/** The latest refunds and disputes that were recorded, newest first. May read the whole audit log. */
export async function listReversals(db: Queries, limit: number) {
  const { action, detail, targetId, createdAt, actorId } = auditLog
  const rows = await db
    .select({ action, detail, targetId, createdAt, userId: actorId })
    .from(auditLog)
    .where(inArray(action, [...ACTIONS]))
    .orderBy(desc(auditLog.id))
    .limit(limit)
    .all()
  return withEmails(db, rows, ({ userId }) => userId)
}
