import { and, asc, desc, eq, gte, lt, lte, type SQL, sql } from '../db/drizzle.ts'
import type { Queries } from '../db/queries.ts'
import { auditLog, users } from '../db/tables.ts'
import { ENTRY } from './audit-page.ts'

export interface AuditOfAllQuery {
  /** Empty: all. */
  readonly action: string
  /** Id of the user in whose log the rows are; empty: all. */
  readonly actorId: string
  /** Epoch milliseconds; `to` is exclusive; null: no bound. */
  readonly from: number | null
  readonly to: number | null
  /** Id of the last row of the page before. */
  readonly before: number
  readonly limit: number
}

/** Reads one page of the rows of all users, newest first, with the addresses of those who still exist. */
export async function readAuditOfAll(db: Queries, query: AuditOfAllQuery) {
  return selectAuditOfAll(db, query).all()
}

export function selectAuditOfAll(db: Queries, query: AuditOfAllQuery) {
  const { action, actorId, from, to, before, limit } = query
  return db
    .select({ ...ENTRY, email: users.email })
    .from(auditLog)
    .leftJoin(users, eq(users.id, auditLog.actorId))
    .where(
      and(
        lt(auditLog.id, before),
        action === '' ? undefined : eq(auditLog.action, action),
        actorId === '' ? undefined : eq(auditLog.actorId, actorId),
        ...since(db, from),
        ...until(db, to),
      ),
    )
    .orderBy(desc(auditLog.id))
    .limit(limit)
}

/*
 * Rows are added in the order of time. So a bound of the time is also a bound of the ids, and the
 * indexes of the other conditions contain the ids. The time is compared as well, because a clock may
 * have been set back.
 */

/** A condition for which SQLite should use no index. */
function withoutIndex(condition: SQL): SQL {
  return sql`(${condition}) = TRUE`
}

function since(db: Queries, from: number | null): SQL[] {
  if (from === null) return []
  const { id, createdAt } = auditLog
  const isIn = gte(createdAt, from)
  const first = db.select({ id }).from(auditLog).where(isIn).orderBy(asc(createdAt), asc(id))
  return [gte(id, sql`(${first.limit(1)})`), withoutIndex(isIn)]
}

function until(db: Queries, to: number | null): SQL[] {
  if (to === null) return []
  const { id, createdAt } = auditLog
  const isIn = lt(createdAt, to)
  const last = db.select({ id }).from(auditLog).where(isIn).orderBy(desc(createdAt), desc(id))
  return [lte(id, sql`(${last.limit(1)})`), withoutIndex(isIn)]
}
