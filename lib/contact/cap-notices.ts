import { moneyText } from '../config/money.ts'
import { DEMO_PLAN } from '../config/plans.ts'
import { capNotices } from '../db/contact-tables.ts'
import { integerOf, lt, sql } from '../db/drizzle.ts'
import type { CapNotice } from '../db/ledger/notices.ts'
import type { Db } from '../db/open.ts'
import { users } from '../db/tables.ts'
import type { Statement } from '../db/transaction.ts'
import { DAY_MS } from '../parts/durations.ts'

export type CapNoticeRow = typeof capNotices.$inferSelect
export type Channel = CapNoticeRow['channel']

/** Queues the notice for delivery on the channel. Queues nothing for the user of the demo key. */
export function insertCapNotice(
  db: Db,
  notice: CapNotice,
  { channel, now }: { readonly channel: Channel; readonly now: number },
): Statement {
  const { userId, threshold } = notice
  const { requests, amount, currency } = limitOf(notice)
  const id = crypto.randomUUID()
  const at = integerOf(now)
  return db.insert(capNotices).select(
    sql`SELECT ${id}, ${channel}, id, email, ${threshold}, ${integerOf(requests)},
      ${integerOf(amount)}, ${currency}, 'waiting', ${at}, ${at}, ${at}, 0, NULL, NULL, NULL
      FROM ${users} WHERE id = ${userId} AND plan <> ${DEMO_PLAN.id}`,
  )
}

function limitOf(notice: CapNotice) {
  if (notice.threshold !== 'reach_spending_cap') {
    return { requests: notice.cap, amount: null, currency: null }
  }
  const { maxUnits, spendingCap, currency } = notice.spending
  return { requests: maxUnits, amount: spendingCap, currency }
}

/** The limit in words, such as `80 % of 5000 requests`, for the audit log. */
export function limitText(notice: CapNotice): string {
  switch (notice.threshold) {
    case 'near_cap':
      return `80 % of ${notice.cap} requests`
    case 'reach_cap':
      return `100 % of ${notice.cap} requests`
    case 'reach_spending_cap': {
      const { spendingCap, currency, maxUnits } = notice.spending
      return `${moneyText(spendingCap, currency)} for ${maxUnits} requests`
    }
  }
}

const RETENTION_MS = 30 * DAY_MS

/** Removes notices that are 30 days old, delivered or not. */
export function removeOldNotices(db: Db, now: number): Statement {
  return db.delete(capNotices).where(lt(capNotices.createdAt, now - RETENTION_MS))
}
