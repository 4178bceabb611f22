import { and, eq, exists, isNotNull, or } from '../../db/drizzle.ts'
import type { Queries } from '../../db/queries.ts'
import { auditLog, users } from '../../db/tables.ts'

/** Whether an operator has disabled the account. */
export async function isDisabled(db: Queries, userId: string): Promise<boolean> {
  const isOff = and(eq(users.id, userId), isNotNull(users.disabledAt))
  return (await db.select({ id: users.id }).from(users).where(isOff).get()) !== undefined
}

/**
 * Whether the user may start a session on a service that sends mail: the address is verified, or
 * the user already signed in before the service sent mail.
 */
export async function mayBeginSession(db: Queries, userId: string): Promise<boolean> {
  const isLogin = and(eq(auditLog.actorId, userId), eq(auditLog.action, 'login'))
  const hasSignedIn = exists(db.select().from(auditLog).where(isLogin))
  const isAdmitted = and(eq(users.id, userId), or(eq(users.emailVerified, true), hasSignedIn))
  return (await db.select({ id: users.id }).from(users).where(isAdmitted).get()) !== undefined
}
