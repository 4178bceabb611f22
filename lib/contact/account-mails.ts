import { accountMails } from '../db/contact-tables.ts'
import { and, eq, inArray, integerOf, lte, or, type SQL, sql } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import type { Queries } from '../db/queries.ts'
import { users } from '../db/tables.ts'
import type { Statement } from '../db/transaction.ts'
import { DAY_MS, HOUR_MS } from '../parts/durations.ts'

export type AccountMailRow = typeof accountMails.$inferSelect

/** Mails with a link. */
export type LinkMail =
  | 'verify_email'
  | 'reset_password'
  | 'change_email'
  | 'invite'
  | 'usage_receiver'

/** Mails that say what has happened to the account. */
export type AccountNotice =
  | 'account_exists'
  | 'email_changed'
  | 'password_changed'
  | 'password_reset'
  | 'second_factor_on'
  | 'second_factor_off'
  | 'recovery_code_used'
  | 'recovery_codes_renewed'

/**
 * The statements that queue a notice to the address that the user has when they run; none without a mail
 * server. Run them in the transaction of the change, and never as its first statement.
 */
export type Notify = (userId: string, notice: AccountNotice, now: number) => Statement[]

export function createNotify(db: Db, sendsMail: boolean): Notify {
  if (!sendsMail) return () => []
  return (userId, notice, now) => [insertNotice(db, sql`id = ${userId}`, notice, now)]
}

/** Queues a notice to the address of the user whom the condition selects. */
function insertNotice(db: Db, isUser: SQL, notice: AccountNotice, now: number): Statement {
  const at = integerOf(now)
  return db.insert(accountMails).select(
    sql`SELECT ${crypto.randomUUID()}, id, email, ${notice}, NULL, NULL, 'waiting', ${at}, ${at}, ${at}, 0,
      NULL, NULL, NULL, NULL FROM ${users} WHERE ${isUser}`,
  )
}

/** Links live as long as the tokens that they contain. */
const LINK_MS = HOUR_MS
const RECEIVER_LINK_MS = 7 * DAY_MS

interface NewLinkMail {
  readonly userId: string
  readonly email: string
  readonly kind: LinkMail
  /** The query of the link, encrypted. */
  readonly link: string
  readonly now: number
}

/**
 * The statements that queue a mail with a link. If another account has the address to change to, its owner
 * gets a notice instead. Both cases run the same statements, so that no caller learns by the time which
 * addresses have accounts.
 */
export function insertLinkMail(db: Db, mail: NewLinkMail): [Statement, ...Statement[]] {
  const { now, userId, email, kind, link } = mail
  const lifetime = kind === 'usage_receiver' ? RECEIVER_LINK_MS : LINK_MS
  const [at, end] = [integerOf(now), integerOf(now + lifetime)]
  const isOwner = sql`email = ${email}`
  const isTaken = sql`${kind} = 'change_email' AND EXISTS (SELECT 1 FROM ${users} WHERE ${isOwner})`
  const insert = db.insert(accountMails).select(
    sql`SELECT ${crypto.randomUUID()}, ${userId}, ${email}, ${kind}, ${link}, ${end},
      'waiting', ${at}, ${at}, ${at}, 0, NULL, NULL, NULL, NULL WHERE NOT (${isTaken})`,
  )
  if (kind !== 'change_email') return [insert]
  return [insert, insertNotice(db, isOwner, 'account_exists', now)]
}

/** Removes the mails whose links stop working once the user's tokens are deleted. */
export function removeSpentLinks(db: Queries, userId: string): Statement {
  const kinds: LinkMail[] = ['reset_password', 'change_email', 'invite']
  return db
    .delete(accountMails)
    .where(and(eq(accountMails.userId, userId), inArray(accountMails.kind, kinds)))
}

const RETENTION_MS = 7 * DAY_MS

/** Removes mails whose links have expired, and mails that nothing has delivered for a week. */
export function removeOldMails(db: Db, now: number): Statement {
  const { expiresAt, createdAt } = accountMails
  return db.delete(accountMails).where(or(lte(expiresAt, now), lte(createdAt, now - RETENTION_MS)))
}
