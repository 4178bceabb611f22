import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import type { StoredEntitlement } from '../config/entitlement.ts'
import { overagePrices, spendingCaps, subscriptions } from '../db/billing-tables.ts'
import { and, eq, exists, gt, isNotNull, isNull, lte, notExists, or, sql } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import type { Queries } from '../db/queries.ts'
import { accounts, apiKeys, auditLog, sessions, users, verifications } from '../db/tables.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../durations.ts'
import { entitlementColumns } from './entitlement-columns.ts'

/** The user of a session. */
export interface SessionUser extends StoredEntitlement {
  readonly id: string
  readonly email: string | null
  /** Of an embedded sign-in. */
  readonly sessionId?: string
  /** Whether the user must verify the address before creating a key, a site or a checkout. */
  readonly mustVerify?: boolean
}

/**
 * Finds the user of the session with this bearer token; null if the session is unknown or has
 * ended. Throws AUTH_UNAVAILABLE if the auth service cannot be reached or rate-limits `client`, the
 * client's address.
 */
export type FindSession = (
  token: string,
  now: number,
  client?: string | undefined,
) => Promise<SessionUser | null>

/** Sessions are stored and found by this hash. A fast hash is enough: a token has 32 random characters. */
export function hashToken(token: string): string {
  return hash('sha256', token)
}

export interface FindSessionOptions {
  readonly secret: string
  /** Whether this service sends mail, so that users can verify their addresses. */
  readonly sendsMail: boolean
}

/** Finds sessions of the embedded sign-in, which are in our database. */
export function createFindSession(db: Db, { secret, sendsMail }: FindSessionOptions): FindSession {
  return async (text, now) => {
    const token = readToken(text, secret)
    if (token === null) return null
    const isOpen = and(
      eq(sessions.tokenHash, hashToken(token)),
      gt(sessions.expiresAt, now),
      isNull(users.disabledAt),
    )
    const found = await db
      .select({ ...userColumns, sessionId: sessions.id, usedAt: sessions.updatedAt })
      .from(users)
      .leftJoin(subscriptions, subscriptionOfUser)
      .leftJoin(overagePrices, sql`true`)
      .leftJoin(spendingCaps, capOfUser)
      .innerJoin(sessions, eq(sessions.userId, users.id))
      .where(isOpen)
      .get()
    if (found === undefined) return null
    const { usedAt, ...user } = found
    if (now - usedAt >= USED_EXACT_MS) touch(db, user.sessionId, now)
    return { ...user, mustVerify: sendsMail && !user.emailVerified }
  }
}

/** The last use of a session is exact to this, so that most requests write nothing. */
const USED_EXACT_MS = HOUR_MS

/** Stores the use of a session. Its request does not wait, and goes on if that fails. */
function touch(db: Db, id: string, now: number): void {
  const touched = db.update(sessions).set({ updatedAt: now }).where(eq(sessions.id, id))
  touched.run().catch(() => {})
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

/** Returns the user even if the account is disabled. */
export async function findSessionUser(db: Db, id: string) {
  const user = await db
    .select({ ...userColumns, disabledAt: users.disabledAt })
    .from(users)
    .leftJoin(subscriptions, subscriptionOfUser)
    .leftJoin(overagePrices, sql`true`)
    .leftJoin(spendingCaps, capOfUser)
    .where(eq(users.id, id))
    .get()
  return user ?? null
}

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
  const isAdmitted = and(eq(users.id, userId), or(users.emailVerified, hasSignedIn))
  return (await db.select({ id: users.id }).from(users).where(isAdmitted).get()) !== undefined
}

/** Finds the user who can sign in with this e-mail address, and the hash of the password. */
export async function findPassword(db: Queries, email: string) {
  return db
    .select({ userId: users.id, hash: accounts.password })
    .from(users)
    .innerJoin(accounts, eq(accounts.userId, users.id))
    .where(eq(users.email, email.toLowerCase()))
    .get()
}

/** A new password, and the app that sets it, for the audit log. */
export interface NewPassword {
  readonly hash: string
  readonly app: 'api' | 'dashboard' | 'cli'
  readonly now: number
}

/** Stores the user's new password, even if the user had none. A trigger adds the audit row. */
export function setPassword(db: Db, userId: string, { hash, app, now }: NewPassword) {
  const ids = { id: crypto.randomUUID(), userId, providerId: 'credential', accountId: userId }
  const set = { password: hash, updatedAt: now, setBy: app }
  return db
    .insert(accounts)
    .values({ ...ids, ...set, createdAt: now })
    .onConflictDoUpdate({ target: [accounts.userId, accounts.providerId], set })
}

const userColumns = {
  id: users.id,
  email: users.email,
  emailVerified: users.emailVerified,
  ...entitlementColumns,
}

const subscriptionOfUser = eq(subscriptions.userId, users.id)
const capOfUser = eq(spendingCaps.userId, users.id)

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

/**
 * Returns the token; null if its signature is wrong. It is plain, as in the body of the sign-in
 * answer, or signed, as in the `set-auth-token` header: `token.signature`, where the signature is an
 * HMAC-SHA-256 in Base64.
 */
function readToken(text: string, secret: string): string | null {
  const [token = '', given] = decodeToken(text).split('.', 2)
  if (given === undefined) return token
  const right = createHmac('sha256', secret).update(token).digest()
  const signature = Buffer.from(given, 'base64')
  return signature.length === right.length && timingSafeEqual(signature, right) ? token : null
}

/** Matches any token that better-auth may have issued, and never an API key. */
export const TOKEN = /^(?![sp]k_live_)[\w.~+/=-]{1,512}$/

/** Decodes a token that may be percent-encoded, as in the cookie. */
export function decodeToken(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
