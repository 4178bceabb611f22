import { moneyText } from '../config/money.ts'
import { DEMO_PLAN } from '../config/plans.ts'
import { capNotices, usageReceivers } from '../db/contact-tables.ts'
import { integerOf, lt, type SQL, sql } from '../db/drizzle.ts'
import type { CapNotice } from '../db/ledger/notices.ts'
import type { Db } from '../db/open.ts'
import { users } from '../db/tables.ts'
import type { Statement } from '../db/transaction.ts'
import { DAY_MS } from '../parts/durations.ts'

export type CapNoticeRow = typeof capNotices.$inferSelect
export type Channel = CapNoticeRow['channel']

/**
 * The statements that queue the notice for delivery on the channel: mails also go to receivers who have confirmed.
 * Nothing is queued for the user of the demo key.
 */
export function insertCapNotices(
  db: Db,
  notice: CapNotice,
  options: { readonly channel: Channel; readonly now: number },
): Statement[] {
  const toUser = insertCapNotice(db, notice, options)
  if (options.channel === 'webhook') return isReported(notice) ? [toUser] : []
  return isMailed(notice) ? [toUser, insertForReceivers(db, notice, options)] : []
}

/** Users cannot turn off mails about money. */
function isMailed(notice: CapNotice): boolean {
  return notice.threshold === 'reach_spending_cap' || notice.isMailed
}

function isReported(notice: CapNotice): boolean {
  return notice.threshold === 'reach_spending_cap' || notice.isReported
}

/** Queues the notice for the user's own address. */
export function insertCapNotice(
  db: Db,
  notice: CapNotice,
  { channel, now }: { readonly channel: Channel; readonly now: number },
): Statement {
  const id = crypto.randomUUID()
  return db.insert(capNotices).select(
    sql`SELECT ${id}, ${channel}, id, email, ${notice.threshold}, ${restOf(notice, now)}, NULL, NULL
      FROM ${users} WHERE id = ${notice.userId} AND plan <> ${DEMO_PLAN.id}`,
  )
}

/** Queues a mail for each further receiver. */
function insertForReceivers(
  db: Db,
  notice: CapNotice,
  { channel, now }: { readonly channel: Channel; readonly now: number },
): Statement {
  const id = crypto.randomUUID()
  const { id: receiver, userId, email, confirmedAt } = usageReceivers
  return db.insert(capNotices).select(
    sql`SELECT ${`${id}.`} || ${receiver}, ${channel}, ${userId}, ${email}, ${notice.threshold},
      ${restOf(notice, now)}, ${receiver}, ${users.email}
      FROM ${usageReceivers} JOIN ${users} ON ${users.id} = ${userId}
      WHERE ${userId} = ${notice.userId} AND ${confirmedAt} IS NOT NULL AND ${email} <> ${users.email}
        AND plan <> ${DEMO_PLAN.id}`,
  )
}

/** The columns from the limit to the share. */
function restOf(notice: CapNotice, now: number): SQL {
  const { requests, amount, currency } = limitOf(notice)
  const percent = notice.threshold === 'reach_spending_cap' ? null : notice.percent
  const at = integerOf(now)
  return sql`${integerOf(requests)}, ${integerOf(amount)}, ${currency}, 'waiting', ${at}, ${at}, ${at},
    0, NULL, NULL, NULL, ${integerOf(percent)}`
}

function limitOf(notice: CapNotice) {
  if (notice.threshold !== 'reach_spending_cap') {
    return { requests: notice.cap, amount: null, currency: null }
  }
  const { maxUnits, spendingCap, currency } = notice.spending
  return { requests: maxUnits, amount: spendingCap, currency }
}

/** The limit in words, such as `80% of 5000 requests`, for the audit log. */
export function limitText(notice: CapNotice): string {
  if (notice.threshold !== 'reach_spending_cap') {
    return `${notice.percent}% of ${notice.cap} requests`
  }
  const { spendingCap, currency, maxUnits } = notice.spending
  return `${moneyText(spendingCap, currency)} for ${maxUnits} requests`
}

const RETENTION_MS = 30 * DAY_MS

/** Removes notices that are 30 days old, delivered or not. */
export function removeOldNotices(db: Db, now: number): Statement {
  return db.delete(capNotices).where(lt(capNotices.createdAt, now - RETENTION_MS))
}
