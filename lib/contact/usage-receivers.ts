import { createHash, randomBytes } from 'node:crypto'
import { MAX_RECEIVERS, type UsageReceiver } from '../contract/account/usage-mails.ts'
import { accountMails, capNotices, usageReceivers } from '../db/contact-tables.ts'
import { and, asc, eq, gt, isNotNull, isNull, ne, type SQL, sql } from '../db/drizzle.ts'
import { insertOwned } from '../db/insert-owned.ts'
import type { Db } from '../db/open.ts'
import { users } from '../db/tables.ts'
import { runInTransaction, type Statement } from '../db/transaction.ts'
import { DAY_MS } from '../parts/durations.ts'
import type { LinkMail } from './account-mails.ts'

export type UsageReceiverRow = typeof usageReceivers.$inferSelect

/** The mail that asks a receiver to confirm. */
export const RECEIVER_MAIL = 'usage_receiver' satisfies LinkMail

/**
 * How long the link works, and how long the user cannot ask the same address again, even if it was removed: it may
 * belong to a stranger.
 */
const ASK_MS = 7 * DAY_MS

export async function listReceivers(db: Db, userId: string): Promise<UsageReceiverRow[]> {
  return db.select().from(usageReceivers).where(isListed(userId)).orderBy(asc(usageReceivers.email))
}

function isListed(userId: string): SQL | undefined {
  return and(eq(usageReceivers.userId, userId), isNull(usageReceivers.removedAt))
}

export function toReceiver({ id, email, confirmedAt }: UsageReceiverRow): UsageReceiver {
  return { id, email, confirmed: confirmedAt !== null }
}

/** Finds the receiver of the user by the address, even if it was removed less than a week ago. */
export async function findReceiver(
  db: Db,
  userId: string,
  email: string,
): Promise<UsageReceiverRow | null> {
  const isThis = and(eq(usageReceivers.userId, userId), eq(usageReceivers.email, email))
  return (await db.select().from(usageReceivers).where(isThis).get()) ?? null
}

type NewReceiver = Pick<UsageReceiverRow, 'id' | 'userId' | 'email'> & { readonly now: number }

type Asked = Pick<UsageReceiverRow, 'askedAt' | 'confirmedAt' | 'removedAt'>

/** Whether the user cannot ask the receiver again: it has confirmed, or was asked or removed within a week. */
export function isAsked({ askedAt, confirmedAt, removedAt }: Asked, now: number): boolean {
  return confirmedAt !== null || (removedAt ?? askedAt) > now - ASK_MS
}

function isForgotten(now: number): SQL {
  const { askedAt, confirmedAt, removedAt } = usageReceivers
  return sql`${confirmedAt} IS NULL AND coalesce(${removedAt}, ${askedAt}) <= ${now - ASK_MS}`
}

/**
 * Returns a token for the link that is mailed to the receiver, and the statement that stores the receiver. It
 * changes nothing if the user has as many as allowed, or cannot ask the receiver again.
 */
export function offerReceiver(
  db: Db,
  { now, ...receiver }: NewReceiver,
): { readonly token: string; readonly statement: Statement } {
  const token = randomBytes(24).toString('base64url')
  const tokenHash = hashOf(token)
  const row = { ...receiver, tokenHash, askedAt: now, confirmedAt: null, removedAt: null }
  const { email, removedAt } = usageReceivers
  const others = sql`${email} <> ${receiver.email} AND ${removedAt} IS NULL`
  const statement = insertOwned(db, usageReceivers, row, {
    max: MAX_RECEIVERS,
    counted: others,
  }).onConflictDoUpdate({
    target: [usageReceivers.userId, usageReceivers.email],
    set: { tokenHash, askedAt: now, removedAt: null },
    setWhere: isForgotten(now),
  })
  return { token, statement }
}

/**
 * Lists a removed receiver again, without another mail: the link in the first one works again. Returns false if it is
 * not removed, or the user has as many as allowed.
 */
export function restoreReceiver(
  db: Db,
  { id, userId }: Pick<UsageReceiverRow, 'id' | 'userId'>,
  audit: Statement,
): Promise<boolean> {
  const { removedAt } = usageReceivers
  const listed = db.$count(usageReceivers, isListed(userId))
  const isRemoved = and(eq(usageReceivers.id, id), isNotNull(removedAt))
  const restore = db
    .update(usageReceivers)
    .set({ askedAt: sql`${removedAt}`, removedAt: null })
    .where(and(isRemoved, sql`${listed} < ${MAX_RECEIVERS}`))
  return runInTransaction(db, [restore, audit])
}

/** A receiver, and the address of the user who has named it. */
export interface NamedReceiver extends Pick<UsageReceiverRow, 'id' | 'userId' | 'email'> {
  readonly confirmedAt: number | null
  readonly account: string
}

/** Finds the receiver by the token of the link; null if it is unknown or removed, or has not confirmed for a week. */
export async function findByToken(
  db: Db,
  token: string,
  now: number,
): Promise<NamedReceiver | null> {
  const found = await findNamed(db, eq(usageReceivers.tokenHash, hashOf(token)))
  return found === undefined || !isAsked(found, now) ? null : found
}

/** Finds the receiver by the id in the mails about usage. */
export async function findById(db: Db, id: string): Promise<NamedReceiver | null> {
  return (await findNamed(db, eq(usageReceivers.id, id))) ?? null
}

function findNamed(db: Db, isWanted: SQL) {
  const { id, userId, email, askedAt, confirmedAt, removedAt } = usageReceivers
  return db
    .select({ id, userId, email, askedAt, confirmedAt, removedAt, account: users.email })
    .from(usageReceivers)
    .innerJoin(users, eq(users.id, usageReceivers.userId))
    .where(and(isWanted, isNull(removedAt)))
    .get()
}

/** Uses the link. Changes nothing if it was used, or has expired. */
export function confirmReceiver(
  db: Db,
  { token, now }: { readonly token: string; readonly now: number },
  audit: Statement,
): Promise<boolean> {
  const { tokenHash, confirmedAt, askedAt, removedAt } = usageReceivers
  const isOpen = and(isNull(confirmedAt), isNull(removedAt), gt(askedAt, now - ASK_MS))
  const isThis = and(eq(tokenHash, hashOf(token)), isOpen)
  const confirm = db.update(usageReceivers).set({ confirmedAt: now }).where(isThis)
  return runInTransaction(db, [confirm, audit])
}

/** Removes the receiver of the user, and all mails to it that are not delivered. Returns false if there is none. */
export function removeReceiver(
  db: Db,
  { id, userId, now }: Pick<UsageReceiverRow, 'id' | 'userId'> & { readonly now: number },
  audit: Statement,
): Promise<boolean> {
  const isThis = and(eq(usageReceivers.id, id), isListed(userId))
  const isToSend = and(eq(capNotices.receiverId, id), ne(capNotices.state, 'delivered'))
  const asks = and(eq(accountMails.kind, RECEIVER_MAIL), eq(accountMails.userId, userId))
  const isRemoved = sql`${accountMails.email} NOT IN (
    SELECT ${usageReceivers.email} FROM ${usageReceivers} WHERE ${isListed(userId)})`
  return runInTransaction(db, [
    db.update(usageReceivers).set({ confirmedAt: null, removedAt: now }).where(isThis),
    db.delete(capNotices).where(isToSend),
    db.delete(accountMails).where(and(asks, isRemoved)),
    audit,
  ])
}

/** Forgets addresses that have not confirmed for a week, or were removed a week ago. */
export function removeUnconfirmed(db: Db, now: number): Statement {
  return db.delete(usageReceivers).where(isForgotten(now))
}

/** Stored instead of the token. */
function hashOf(token: string): string {
  return createHash('sha256').update(`usage-receiver:${token}`).digest('base64url')
}
