import { and, eq, gt, isNull, lte, notExists } from '../../db/drizzle.ts'
import type { Db } from '../../db/open.ts'
import {
  accounts,
  apiKeys,
  auditLog,
  keptAnswers,
  sessions,
  users,
  verifications,
} from '../../db/tables.ts'
import { DAY_MS, MINUTE_MS } from '../../parts/durations.ts'

/**
 * Removes users of the last day whose sign-up was interrupted after it wrote the user and before it
 * wrote the password. Such a user blocks an address, but nobody can sign in with it. Sign-ups of
 * the last minute may still be running. Users created in other ways have an entry in the audit log.
 */
export async function removeIncompleteUsers(db: Db, now: number): Promise<void> {
  const { id, createdAt, remoteId } = users
  const isOld = and(gt(createdAt, now - DAY_MS), lte(createdAt, now - MINUTE_MS))
  const isUnused = and(
    isNull(remoteId),
    notExists(db.select().from(accounts).where(eq(accounts.userId, id))),
    notExists(db.select().from(apiKeys).where(eq(apiKeys.userId, id))),
    notExists(db.select().from(auditLog).where(eq(auditLog.actorId, id))),
  )
  // Searched for first: on PostgreSQL, other changes of accounts wait for one that deletes.
  for (const user of await db.select({ id }).from(users).where(and(isOld, isUnused)).all()) {
    await db
      .delete(users)
      .where(and(eq(id, user.id), isUnused))
      .run()
  }
}

/** Removes sessions, password resets and kept answers that have expired. */
export async function removeExpired(db: Db, now: number): Promise<void> {
  await db.delete(sessions).where(lte(sessions.expiresAt, now)).run()
  await db.delete(verifications).where(lte(verifications.expiresAt, now)).run()
  await db.delete(keptAnswers).where(lte(keptAnswers.expiresAt, now)).run()
}
