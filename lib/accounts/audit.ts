import type { AuditNote } from '../contract/account/audit-actions.ts'
import type { Queries } from '../db/queries.ts'
import { auditLog } from '../db/tables.ts'
import type { Statement } from '../db/transaction.ts'

export type AuditEvent = Omit<typeof auditLog.$inferInsert, 'id'>

/** Inserts a row into the audit log. Run it in the same transaction as the change that it records. */
export function insertAudit(db: Queries, event: AuditEvent): Statement {
  return db.insert(auditLog).values(event)
}

/** How users' own logs name an operator. No user has this address. */
export const OPERATOR_LABEL = 'operator'

export interface Actor {
  /** `dashboard` for our own pages, `api` for any other program. */
  readonly app: 'api' | 'dashboard'
  readonly userId: string
  readonly label: string | null
}

/** The audit event of a change that `caller` makes. */
export function callerEvent(caller: Actor, note: AuditNote, now: number): AuditEvent {
  const { app, userId, label } = caller
  return { app, actorId: userId, actorLabel: label, createdAt: now, ...note }
}
