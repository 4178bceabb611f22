import type { Db } from '../db/open.ts'
import { auditLog } from '../db/tables.ts'
import type { Statement } from '../db/unit.ts'

export type AuditEvent = Omit<typeof auditLog.$inferInsert, 'id'>

/** One row of the audit log; run it in the unit of the change that it tells of. */
export function insertAudit(db: Db, event: AuditEvent): Statement {
  return db.insert(auditLog).values(event)
}

/** What a change was, without who made it. */
export type Change = Pick<AuditEvent, 'action' | 'targetType' | 'targetId' | 'detail'>

interface Actor {
  /** From where they ask: as any program, or by the dashboard. */
  readonly app: 'api' | 'dashboard'
  readonly userId: string
  readonly label: string | null
}

/** The event of a change that a caller of the API makes. */
export function apiEvent({ app, userId, label }: Actor, change: Change, now: number): AuditEvent {
  return { app, actorId: userId, actorLabel: label, createdAt: now, ...change }
}
