import { createHash, randomBytes } from 'node:crypto'
import { removeSpentLinks } from '../../contact/account-mails.ts'
import { APP_PATH } from '../../contract/pages.ts'
import { and, eq, gt } from '../../db/drizzle.ts'
import type { Db } from '../../db/open.ts'
import { sessions, users, verifications } from '../../db/tables.ts'
import type { Statement } from '../../db/transaction.ts'
import { HOUR_MS } from '../../parts/durations.ts'

/**
 * Makes a token with which the user can set a password once, within an hour, as in the mails of
 * better-auth. The caller must make sure that only the owner of the address receives it.
 */
export function insertResetToken(
  db: Db,
  userId: string,
  now: number,
): { readonly token: string; readonly statement: Statement } {
  const token = randomBytes(24).toString('base64url')
  const identifier = identify(token)
  const times = { createdAt: now, updatedAt: now, expiresAt: now + HOUR_MS }
  const row = { id: crypto.randomUUID(), identifier, value: userId, ...times }
  return { token, statement: db.insert(verifications).values(row) }
}

/** The address of the user whose password the token can set; undefined: it cannot set any. */
export async function findResetAddress(
  db: Db,
  token: string,
  now: number,
): Promise<string | undefined> {
  const isGood = and(
    eq(verifications.identifier, identify(token)),
    gt(verifications.expiresAt, now),
  )
  const found = await db
    .select({ email: users.email })
    .from(verifications)
    .innerJoin(users, eq(users.id, verifications.value))
    .where(isGood)
    .get()
  return found?.email
}

/** better-auth looks for a token by this hash. */
function identify(token: string): string {
  return createHash('sha256').update(`reset-password:${token}`).digest('base64url')
}

/** The page on which the owner of the token chooses a password. */
export function resetLink(baseUrl: string, token: string): string {
  return `${baseUrl}${APP_PATH}/reset?${new URLSearchParams({ token })}`
}

/** Ends all sessions of the user, and invalidates all links that were mailed. */
export function endSignIns(db: Db, userId: string): Statement[] {
  return [
    db.delete(sessions).where(eq(sessions.userId, userId)),
    db.delete(verifications).where(eq(verifications.value, userId)),
    removeSpentLinks(db, userId),
  ]
}
