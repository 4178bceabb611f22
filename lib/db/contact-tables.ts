import { index, integer, isNotNull, sqliteTable, text, unique } from './drizzle.ts'
import { users } from './tables.ts'

/** Times are epoch milliseconds. A test compares these tables with the SQL in migrations/. */

/** The columns that all tables of messages share that a courier delivers. */
function queueColumns() {
  return {
    state: text({ enum: ['waiting', 'delivered', 'dead', 'kept'] }).notNull(),
    createdAt: integer('created_at').notNull(),
    /** When the message was queued. Attempts stop some days later. */
    queuedAt: integer('queued_at').notNull(),
    /** Time of the next attempt; during an attempt, the end of its lease. */
    dueAt: integer('due_at').notNull(),
    attempts: integer().notNull(),
    /** Id of the current attempt. */
    claim: text(),
    settledAt: integer('settled_at'),
    lastError: text('last_error'),
  }
}

export const inquiries = sqliteTable(
  'inquiries',
  {
    id: text().primaryKey(),
    /** null: no credential. */
    userId: text('user_id'),
    name: text().notNull(),
    email: text().notNull(),
    company: text(),
    message: text().notNull(),
    ...queueColumns(),
  },
  (table) => [
    index('inquiries_by_due').on(table.state, table.dueAt),
    index('inquiries_of_user').on(table.userId, table.id).where(isNotNull(table.userId)),
  ],
)

export const spentChallenges = sqliteTable('spent_challenges', {
  signature: text().primaryKey(),
  expiresAt: integer('expires_at').notNull(),
})

/** Messages that a user has reached a limit: mails to the user, and webhooks to the operator. */
export const capNotices = sqliteTable(
  'cap_notices',
  {
    id: text().primaryKey(),
    channel: text({ enum: ['mail', 'webhook'] }).notNull(),
    userId: text('user_id').notNull(),
    email: text().notNull(),
    threshold: text({ enum: ['near_cap', 'reach_cap', 'reach_spending_cap'] }).notNull(),
    /** The limit in requests: of the plan, or those that the spending cap pays for. */
    requests: integer().notNull(),
    /** The spending cap, in the smallest unit of the currency; null for the cap of the plan. */
    amount: integer(),
    currency: text(),
    ...queueColumns(),
    /** The share of the cap; null for the spending cap. */
    percent: integer(),
    /** The further receiver whom the mail goes to; null: the user. */
    receiverId: text('receiver_id'),
    /** The address of the user, in mails to further receivers. */
    account: text(),
  },
  (table) => [
    index('cap_notices_by_due').on(table.channel, table.state, table.dueAt),
    index('cap_notices_of_user').on(table.userId, table.id),
    index('cap_notices_by_time').on(table.createdAt),
    index('cap_notices_of_receiver').on(table.receiverId).where(isNotNull(table.receiverId)),
  ],
)

/** Mails to users about their accounts, until they are delivered or given up. */
export const accountMails = sqliteTable(
  'account_mails',
  {
    id: text().primaryKey(),
    userId: text('user_id').notNull(),
    email: text().notNull(),
    kind: text().notNull(),
    /** The query of the link, encrypted; null: no link. */
    link: text(),
    expiresAt: integer('expires_at'),
    ...queueColumns(),
    /** What a mail without a link is about, as JSON. */
    detail: text(),
  },
  (table) => [
    index('account_mails_by_due').on(table.state, table.dueAt),
    index('account_mails_by_email').on(table.email),
    index('account_mails_by_user').on(table.userId),
  ],
)

/** Further addresses that a user wants mails about usage to go to. */
export const usageReceivers = sqliteTable(
  'usage_receivers',
  {
    /** The link by which the receiver stops the mails has it, too, with a proof. */
    id: text().primaryKey(),
    userId: text('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    email: text().notNull(),
    /** SHA-256 of the token in the link by which the receiver confirms. */
    tokenHash: text('token_hash').notNull().unique(),
    /** When the receiver was asked; if removed and added again within a week, when it was removed. */
    askedAt: integer('asked_at').notNull(),
    /** null: not confirmed, so no mail about usage is sent. */
    confirmedAt: integer('confirmed_at'),
    /** null: not removed. Removed receivers are not confirmed. */
    removedAt: integer('removed_at'),
  },
  (table) => [unique().on(table.userId, table.email)],
)
