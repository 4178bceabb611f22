import { and, eq, gt, isNull, lte, notExists } from '../../db/drizzle.ts'
import type { Db } from '../../db/open.ts'
import { accounts, apiKeys, auditLog, sessions, users, verifications } from '../../db/tables.ts'
import { DAY_MS, MINUTE_MS } from '../../durations.ts'

/**
 * Removes users of the last day whose sign-up was interrupted after it wrote the user and before it
 * wrote the password. Such a user blocks an address, but nobody can sign in with it. Sign-ups of
 * the last minute may still be running. Users created in other ways have an entry in the audit log.
 */
export async function removeIncompleteUsers(db: Db, now: number): Promise<void> {
  await db
    .delete(users)
    .where(
      and(
        gt(users.createdAt, now - DAY_MS),
        lte(users.createdAt, now - MINUTE_MS),
        isNull(users.remoteId),
        notExists(db.select().from(accounts).where(eq(accounts.userId, users.id))),
        notExists(db.select().from(apiKeys).where(eq(apiKeys.userId, users.id))),
        notExists(db.select().from(auditLog).where(eq(auditLog.actorId, users.id))),
      ),
    )
    .run()
}

/** Removes sessions and password resets that have expired. */
export async function removeExpired(db: Db, now: number): Promise<void> {
  await db.delete(sessions).where(lte(sessions.expiresAt, now)).run()
  await db.delete(verifications).where(lte(verifications.expiresAt, now)).run()
}
