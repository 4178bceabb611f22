import { createHash, randomBytes } from 'node:crypto'
import { MAX_RECEIVERS, type UsageReceiver } from '../contract/account/usage-mails.ts'
import { accountMails, capNotices, usageReceivers } from '../db/contact-tables.ts'
import { and, asc, eq, gt, isNull, lte, ne, type SQL, sql } from '../db/drizzle.ts'
import { insertOwned } from '../db/insert-owned.ts'
import type { Db } from '../db/open.ts'
import { users } from '../db/tables.ts'
import { runInTransaction, type Statement } from '../db/transaction.ts'
import { DAY_MS, HOUR_MS } from '../parts/durations.ts'
import type { LinkMail } from './account-mails.ts'

export type UsageReceiverRow = typeof usageReceivers.$inferSelect

/** The mail that asks a receiver to confirm. */
export const RECEIVER_MAIL = 'usage_receiver' satisfies LinkMail

export async function listReceivers(db: Db, userId: string): Promise<UsageReceiverRow[]> {
  const { email } = usageReceivers
  return db
    .select()
    .from(usageReceivers)
    .where(eq(usageReceivers.userId, userId))
    .orderBy(asc(email))
}

export function toReceiver({ id, email, confirmedAt }: UsageReceiverRow): UsageReceiver {
  return { id, email, confirmed: confirmedAt !== null }
}

export async function findReceiver(
  db: Db,
  userId: string,
  email: string,
): Promise<UsageReceiverRow | null> {
  const isThis = and(eq(usageReceivers.userId, userId), eq(usageReceivers.email, email))
  return (await db.select().from(usageReceivers).where(isThis).get()) ?? null
}

type NewReceiver = Pick<UsageReceiverRow, 'id' | 'userId' | 'email'> & { readonly now: number }

/** Whether the receiver has not confirmed in time, so that it may get a new link. */
export function isExpired(
  { confirmedAt, askedAt }: Pick<UsageReceiverRow, 'confirmedAt' | 'askedAt'>,
  now: number,
): boolean {
  return confirmedAt === null && askedAt <= now - HOUR_MS
}

/**
 * Returns a token for the link that is mailed to the receiver, and the statement that stores the receiver. It
 * changes nothing if the user has as many as allowed, or if the receiver has confirmed or has a link that still works.
 */
export function offerReceiver(
  db: Db,
  { now, ...receiver }: NewReceiver,
): { readonly token: string; readonly statement: Statement } {
  const token = randomBytes(24).toString('base64url')
  const tokenHash = hashOf(token)
  const row = { ...receiver, tokenHash, askedAt: now, confirmedAt: null }
  const others = ne(usageReceivers.email, receiver.email)
  const statement = insertOwned(db, usageReceivers, row, {
    max: MAX_RECEIVERS,
    counted: others,
  }).onConflictDoUpdate({
    target: [usageReceivers.userId, usageReceivers.email],
    set: { tokenHash, askedAt: now },
    setWhere: hasExpired(now),
  })
  return { token, statement }
}

function hasExpired(now: number): SQL {
  const { confirmedAt, askedAt } = usageReceivers
  return sql`${confirmedAt} IS NULL AND ${askedAt} <= ${now - HOUR_MS}`
}

/** A receiver, and the address of the user who has named it. */
export interface NamedReceiver extends Pick<UsageReceiverRow, 'id' | 'userId' | 'email'> {
  readonly confirmedAt: number | null
  readonly account: string
}

/** Finds the receiver by the token of the link; null if it is unknown, or has expired unconfirmed. */
export async function findByToken(
  db: Db,
  token: string,
  now: number,
): Promise<NamedReceiver | null> {
  const found = await selectNamed(db)
    .where(eq(usageReceivers.tokenHash, hashOf(token)))
    .get()
  return found === undefined || isExpired(found, now) ? null : found
}

/** Finds the receiver by the id in the mails about usage. */
export async function findById(db: Db, id: string): Promise<NamedReceiver | null> {
  return (await selectNamed(db).where(eq(usageReceivers.id, id)).get()) ?? null
}

function selectNamed(db: Db) {
  const { id, userId, email, askedAt, confirmedAt } = usageReceivers
  return db
    .select({ id, userId, email, askedAt, confirmedAt, account: users.email })
    .from(usageReceivers)
    .innerJoin(users, eq(users.id, usageReceivers.userId))
}

/** Uses the link. Changes nothing if it was used, or has expired. */
export function confirmReceiver(
  db: Db,
  { token, now }: { readonly token: string; readonly now: number },
  audit: Statement,
): Promise<boolean> {
  const { tokenHash, confirmedAt, askedAt } = usageReceivers
  const isOpen = and(eq(tokenHash, hashOf(token)), isNull(confirmedAt), gt(askedAt, now - HOUR_MS))
  const confirm = db.update(usageReceivers).set({ confirmedAt: now }).where(isOpen)
  return runInTransaction(db, [confirm, audit])
}

/** Removes the receiver of the user, and all mails to it that are not delivered. Returns false if there is none. */
export function removeReceiver(
  db: Db,
  { id, userId }: Pick<UsageReceiverRow, 'id' | 'userId'>,
  audit: Statement,
): Promise<boolean> {
  const isThis = and(eq(usageReceivers.id, id), eq(usageReceivers.userId, userId))
  const isToSend = and(eq(capNotices.receiverId, id), ne(capNotices.state, 'delivered'))
  const asks = and(eq(accountMails.kind, RECEIVER_MAIL), eq(accountMails.userId, userId))
  const isRemoved = sql`${accountMails.email} NOT IN (
    SELECT ${usageReceivers.email} FROM ${usageReceivers} WHERE ${usageReceivers.userId} = ${userId})`
  return runInTransaction(db, [
    db.delete(usageReceivers).where(isThis),
    db.delete(capNotices).where(isToSend),
    db.delete(accountMails).where(and(asks, isRemoved)),
    audit,
  ])
}

const UNCONFIRMED_MS = 7 * DAY_MS

/** Forgets addresses that have not confirmed for a week: they may belong to strangers. */
export function removeUnconfirmed(db: Db, now: number): Statement {
  const { confirmedAt, askedAt } = usageReceivers
  return db
    .delete(usageReceivers)
    .where(and(isNull(confirmedAt), lte(askedAt, now - UNCONFIRMED_MS)))
}

/** Stored instead of the token. */
function hashOf(token: string): string {
  return createHash('sha256').update(`usage-receiver:${token}`).digest('base64url')
}
