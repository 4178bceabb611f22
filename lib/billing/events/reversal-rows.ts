import { desc, eq, inArray } from '../../db/drizzle.ts'
import type { Queries } from '../../db/queries.ts'
import { auditLog, users } from '../../db/tables.ts'

const ACTIONS = ['payment_refunded', 'payment_disputed', 'dispute_closed'] as const

/** The latest refunds and disputes that were recorded, newest first. May read the whole audit log. */
export async function listReversals(db: Queries, limit: number) {
  const { action, detail, targetId, createdAt, actorId } = auditLog
  return db
    .select({ action, detail, targetId, createdAt, userId: actorId, email: users.email })
    .from(auditLog)
    .leftJoin(users, eq(users.id, actorId))
    .where(inArray(action, [...ACTIONS]))
    .orderBy(desc(auditLog.id))
    .limit(limit)
    .all()
}
