import { and, desc, eq, gt, ne } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import { sessions } from '../db/tables.ts'

export type SessionRow = typeof sessions.$inferSelect

/** Prefix of the user agent in sessions that the dashboard starts; the audit triggers read it. */
export const DASHBOARD_PREFIX = 'dashboard: '

/** The live sessions of a user of the embedded sign-in, the newest first. */
export async function listSessions(db: Db, userId: string, now: number): Promise<SessionRow[]> {
  return db
    .select()
    .from(sessions)
    .where(and(eq(sessions.userId, userId), gt(sessions.expiresAt, now)))
    .orderBy(desc(sessions.createdAt), sessions.id)
    .all()
}

/** Ends one session of the user. */
export function deleteSession(db: Db, userId: string, id: string) {
  return db.delete(sessions).where(and(eq(sessions.userId, userId), eq(sessions.id, id)))
}

/** Ends all sessions of the user except `kept`; undefined: all. */
export function deleteOtherSessions(db: Db, userId: string, kept: string | undefined) {
  const isOther = kept === undefined ? undefined : ne(sessions.id, kept)
  return db.delete(sessions).where(and(eq(sessions.userId, userId), isOther))
}
