import { index, integer, sqliteTable, text } from './drizzle.ts'

/** Times are epoch milliseconds. A test compares these tables with the SQL in migrations/. */

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
    state: text({ enum: ['waiting', 'delivered', 'dead', 'kept'] }).notNull(),
    createdAt: integer('created_at').notNull(),
    /** Start of the wait; attempts stop some days later. */
    queuedAt: integer('queued_at').notNull(),
    /** Time of the next attempt; during an attempt, the end of its lease. */
    dueAt: integer('due_at').notNull(),
    attempts: integer().notNull(),
    /** Id of the current attempt. */
    claim: text(),
    settledAt: integer('settled_at'),
    lastError: text('last_error'),
  },
  (table) => [index('inquiries_by_due').on(table.state, table.dueAt)],
)

export const spentChallenges = sqliteTable('spent_challenges', {
  signature: text().primaryKey(),
  expiresAt: integer('expires_at').notNull(),
})
