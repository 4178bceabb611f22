import { createHash, randomBytes } from 'node:crypto'
import { removeSpentLinks } from '../contact/account-mails.ts'
import { capNotices } from '../db/contact-tables.ts'
import { and, eq, gt, isNull, ne } from '../db/drizzle.ts'
import { isTaken } from '../db/fault.ts'
import type { Db } from '../db/open.ts'
import { sessions, users, verifications } from '../db/tables.ts'
import { runInTransaction, type Statement } from '../db/transaction.ts'
import { HOUR_MS } from '../parts/durations.ts'
import { type AuditEvent, insertAudit } from './audit.ts'

export interface EmailChange {
  readonly userId: string
  /** In lower case. */
  readonly email: string
  /** The session to keep; undefined: none. */
  readonly sessionId: string | undefined
  readonly event: AuditEvent
}

/**
 * Returns a token for the link that is mailed to the new address, and the statement that stores it. Only
 * this user can use it.
 */
export function offerEmailChange(
  db: Db,
  { userId, email, event: { createdAt } }: Omit<EmailChange, 'sessionId'>,
): { readonly token: string; readonly statement: Statement } {
  const token = randomBytes(24).toString('base64url')
  const times = { createdAt, updatedAt: createdAt, expiresAt: createdAt + HOUR_MS }
  const row = { id: crypto.randomUUID(), identifier: toIdentifier(token, email), value: userId }
  return { token, statement: db.insert(verifications).values({ ...row, ...times }) }
}

/** Uses up the token and changes the address. The token came by mail, so the address is verified. */
export function confirmEmailChange(
  db: Db,
  change: EmailChange,
  { token, notices }: { readonly token: string; readonly notices: readonly Statement[] },
): Promise<'changed' | 'taken' | 'unknown-token'> {
  const { userId, email, event } = change
  const spent = db
    .delete(verifications)
    .where(
      and(
        eq(verifications.identifier, toIdentifier(token, email)),
        eq(verifications.value, userId),
        gt(verifications.expiresAt, event.createdAt),
      ),
    )
  // Before the change, so that they go to the old address.
  return runChange(db, [spent, ...notices, ...toStatements(db, change, { emailVerified: true })])
}

/** Changes the address at once, without proof that it belongs to the user. */
export async function changeEmail(db: Db, change: EmailChange): Promise<'changed' | 'taken'> {
  const [first, ...rest] = toStatements(db, change, { emailVerified: false })
  const outcome = await runChange(db, [first, ...rest])
  return outcome === 'taken' ? 'taken' : 'changed'
}

/**
 * Also ends the other sessions, invalidates all links that were mailed to the old address, and
 * redirects all notices that are not delivered: operators may queue those that failed again.
 */
function toStatements(
  db: Db,
  { userId, email, sessionId, event }: EmailChange,
  verified: { readonly emailVerified: boolean },
): [Statement, ...Statement[]] {
  const others = sessionId === undefined ? undefined : ne(sessions.id, sessionId)
  return [
    db
      .update(users)
      .set({ email, ...verified, updatedAt: event.createdAt })
      .where(eq(users.id, userId)),
    db.delete(sessions).where(and(eq(sessions.userId, userId), others)),
    db.delete(verifications).where(eq(verifications.value, userId)),
    removeSpentLinks(db, userId),
    db
      .update(capNotices)
      .set({ email })
      .where(
        and(
          eq(capNotices.userId, userId),
          ne(capNotices.state, 'delivered'),
          isNull(capNotices.receiverId),
        ),
      ),
    insertAudit(db, event),
  ]
}

async function runChange(db: Db, statements: [Statement, ...Statement[]]) {
  try {
    return (await runInTransaction(db, statements)) ? 'changed' : 'unknown-token'
  } catch (error) {
    if (isTaken(error)) return 'taken'
    throw error
  }
}

/** Stored instead of the token. */
function toIdentifier(token: string, email: string): string {
  return createHash('sha256').update(`change-email:${token}:${email}`).digest('base64url')
}
