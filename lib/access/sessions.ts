import { and, desc, eq, gt, ne } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import { sessions } from '../db/tables.ts'
import { hashToken } from './session-token.ts'

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

/** A session of the remote auth service. */
export interface RemoteSession {
  readonly userId: string
  readonly token: string
  /** Epoch milliseconds. */
  readonly expiresAt: number
}

/**
 * Stores that the session was seen; a trigger writes the login into the audit log the first time. The
 * stored text equals no hash, so the session is never valid for the embedded sign-in.
 */
export async function rememberSession(db: Db, session: RemoteSession, now: number): Promise<void> {
  const { userId, token, expiresAt } = session
  const times = { createdAt: now, updatedAt: now, expiresAt }
  await db
    .insert(sessions)
    .values({ id: crypto.randomUUID(), userId, tokenHash: `remote:${hashToken(token)}`, ...times })
    .onConflictDoUpdate({ target: sessions.tokenHash, set: { expiresAt } })
    .run()
}
