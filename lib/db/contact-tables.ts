import { index, integer, sqliteTable, text } from './drizzle.ts'

/** As in tables.ts: times are epoch milliseconds, and a test compares them with the SQL. */

export const inquiries = sqliteTable(
  'inquiries',
  {
    id: text().primaryKey(),
    /** null: without a key. */
    userId: text('user_id'),
    name: text().notNull(),
    email: text().notNull(),
    company: text(),
    message: text().notNull(),
    state: text({ enum: ['waiting', 'delivered', 'dead', 'kept'] }).notNull(),
    createdAt: integer('created_at').notNull(),
    /** When it began to wait: attempts end some days later. */
    queuedAt: integer('queued_at').notNull(),
    /** The next attempt; while one runs, the end of its lease. */
    dueAt: integer('due_at').notNull(),
    attempts: integer().notNull(),
    /** Names the attempt that runs. */
    claim: text(),
    settledAt: integer('settled_at'),
    trouble: text(),
  },
  (table) => [index('inquiries_by_due').on(table.state, table.dueAt)],
)

export const spentChallenges = sqliteTable('spent_challenges', {
  signature: text().primaryKey(),
  expiresAt: integer('expires_at').notNull(),
})
