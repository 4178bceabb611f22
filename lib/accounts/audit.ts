import type { Db } from '../db/open.ts'
import { auditLog } from '../db/tables.ts'
import type { Statement } from '../db/unit.ts'

export type AuditEvent = Omit<typeof auditLog.$inferInsert, 'id'>

/** One row of the audit log; run it in the unit of the change that it tells of. */
export function insertAudit(db: Db, event: AuditEvent): Statement {
  return db.insert(auditLog).values(event)
}
