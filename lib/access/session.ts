import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import { subscriptions } from '../db/billing-tables.ts'
import { and, eq, gt, isNull, lte, notExists } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import { accounts, apiKeys, auditLog, sessions, users, verifications } from '../db/tables.ts'
import type { StoredEntitlement } from '../entitlement.ts'
import { entitlementColumns } from './entitled.ts'

/** The user of a session. */
export interface SessionUser extends StoredEntitlement {
  readonly id: string
  readonly email: string | null
}

/**
 * Finds whose session the bearer token belongs to; null: nobody's, or it has ended. Throws
 * AUTH_UNAVAILABLE where that cannot be told.
 */
export type FindSession = (token: string, now: number) => Promise<SessionUser | null>

const sessionUser = { id: users.id, email: users.email, ...entitlementColumns }

/** What a session is stored and found by. A fast hash is right: a token is 32 random characters. */
export function hashToken(token: string): string {
  return hash('sha256', token)
}

/** Finds sessions of the embedded sign-in, which keeps them in our database. */
export function createFindSession(db: Db, secret: string): FindSession {
  return async (text, now) => {
    const token = readToken(text, secret)
    if (token === null) return null
    const session = db
      .select(sessionUser)
      .from(sessions)
      .innerJoin(users, eq(users.id, sessions.userId))
      .leftJoin(subscriptions, eq(subscriptions.userId, users.id))
      .where(and(eq(sessions.tokenHash, hashToken(token)), gt(sessions.expiresAt, now)))
      .get()
    return session ?? null
  }
}

/** Finds a user as a session shows them. */
export async function findSessionUser(db: Db, id: string): Promise<SessionUser | null> {
  const user = db
    .select(sessionUser)
    .from(users)
    .leftJoin(subscriptions, eq(subscriptions.userId, users.id))
    .where(eq(users.id, id))
    .get()
  return user ?? null
}

const MINUTE_MS = 60 * 1000
const DAY_MS = 24 * 60 * 60 * 1000

/**
 * Removes users of the last day who were left halfway: sign-up writes user and password one after
 * the other, and without the second the address is taken and nobody can sign in with it. Users who
 * were made otherwise have an entry in the audit log.
 */
export function removeHalfUsers(db: Db, now: number): void {
  db.delete(users)
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

/** Removes the sessions and the requests to reset a password that have ended. */
export function removeEnded(db: Db, now: number): void {
  db.delete(sessions).where(lte(sessions.expiresAt, now)).run()
  db.delete(verifications).where(lte(verifications.expiresAt, now)).run()
}

/**
 * The token comes as it stands in the body of the sign-in, or signed, as in its `set-auth-token`
 * header: `token.signature`, the signature being the HMAC-SHA-256 in Base64.
 */
function readToken(text: string, secret: string): string | null {
  const [token = '', given] = decodeToken(text).split('.', 2)
  if (given === undefined) return token
  const right = createHmac('sha256', secret).update(token).digest()
  const signature = Buffer.from(given, 'base64')
  return signature.length === right.length && timingSafeEqual(signature, right) ? token : null
}

/** What better-auth may have given out, and no API key. */
export const TOKEN = /^(?![sp]k_live_)[\w.~+/=-]{1,512}$/

/** A token may be percent-encoded, as it stands in the cookie. */
export function decodeToken(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
