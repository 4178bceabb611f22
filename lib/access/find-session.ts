import type { StoredEntitlement } from '../config/entitlement.ts'
import { overagePrices, spendingCaps, subscriptions } from '../db/billing-tables.ts'
import { and, eq, gt, isNull, sql } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import { sessions, users } from '../db/tables.ts'
import { DAY_MS, HOUR_MS } from '../parts/durations.ts'
import { hashToken, readToken } from './session-token.ts'

/** The user of a session. */
export interface SessionUser extends StoredEntitlement {
  readonly id: string
  readonly email: string | null
  /** Absent for sessions of a remote auth service. */
  readonly sessionId?: string
  /** Whether the user must verify the address before creating a key, a site or a checkout. */
  readonly mustVerify?: boolean
  /** Whether this use has made the session longer. */
  readonly isExtended?: boolean
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
      .select({ ...userColumns, session: sessions })
      .from(users)
      .leftJoin(subscriptions, subscriptionOfUser)
      .leftJoin(overagePrices, sql`true`)
      .leftJoin(spendingCaps, capOfUser)
      .innerJoin(sessions, eq(sessions.userId, users.id))
      .where(isOpen)
      .get()
    if (found === undefined) return null
    const { session, ...user } = found
    const isExtended = now - session.updatedAt >= STORE_USE_EVERY_MS
    if (isExtended) touch(db, session, now)
    const mustVerify = sendsMail && !user.emailVerified
    return { ...user, sessionId: session.id, isExtended, mustVerify }
  }
}

/** A session ends so long after its last use, */
export const SESSION_MS = 7 * DAY_MS
/** and so long after the sign-in, however often it is used: OWASP ASVS 5.0, 7.3.2. */
const LONGEST_SESSION_MS = 90 * DAY_MS

/** The last use of a session is stored at most this often, so that most requests write nothing. */
const STORE_USE_EVERY_MS = HOUR_MS

/**
 * Stores that the session was used, and lets it last longer. The request neither waits for this nor fails with
 * it.
 */
function touch(db: Db, { id, createdAt }: typeof sessions.$inferSelect, now: number): void {
  const expiresAt = Math.min(now + SESSION_MS, createdAt + LONGEST_SESSION_MS)
  const touched = db.update(sessions).set({ updatedAt: now, expiresAt }).where(eq(sessions.id, id))
  touched.run().catch(() => {})
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

/** With the columns of the entitlement: users are joined with their subscriptions, caps and the price. */
const userColumns = {
  id: users.id,
  email: users.email,
  emailVerified: users.emailVerified,
  assignedPlan: users.plan,
  usageMails: users.usageMails,
  subscribed: {
    plan: subscriptions.plan,
    status: subscriptions.status,
    periodStart: subscriptions.periodStart,
    periodEnd: subscriptions.periodEnd,
    interval: subscriptions.interval,
    overages: subscriptions.overages,
    currency: subscriptions.currency,
  },
  overagePrice: {
    currency: overagePrices.currency,
    unitAmount: overagePrices.unitAmount,
    others: overagePrices.others,
  },
  spendingCap: { currency: spendingCaps.currency, amount: spendingCaps.amount },
}

const subscriptionOfUser = eq(subscriptions.userId, users.id)
const capOfUser = eq(spendingCaps.userId, users.id)
