import { index, integer, primaryKey, sqliteTable, text } from '../db/drizzle.ts'

/** Prepared statements in lib/db/ledger/pending-counts.ts write these tables, with the other counters. */
export const usageByOperation = sqliteTable(
  'usage_by_operation',
  {
    /** Days since 1970-01-01, UTC. */
    day: integer().notNull(),
    userId: text('user_id').notNull(),
    /** Empty for session tokens. */
    keyId: text('key_id').notNull(),
    /** Id of an operation of the contract. */
    operation: text().notNull(),
    status: integer().notNull(),
    requests: integer().notNull(),
    /** How many look-ups of them count towards the cap: each address of a batch is one. */
    lookUps: integer('look_ups').notNull().default(0),
    /** The last use of the key, by whichever operation, in epoch milliseconds; 0: unknown. */
    usedAt: integer('used_at').notNull().default(0),
  },
  ({ day, userId, keyId, operation, status }) => [
    primaryKey({ columns: [day, userId, keyId, operation, status] }),
    index('usage_by_operation_of_user').on(userId, day),
  ],
)

/** The sums of days that are over: see past-days.ts. */
export const usageByMonth = sqliteTable(
  'usage_by_month',
  {
    /** Its first day. */
    month: integer().notNull(),
    userId: text('user_id').notNull(),
    keyId: text('key_id').notNull(),
    requests: integer().notNull(),
    errors: integer().notNull(),
    /** Answers with 429, which are also errors. */
    limited: integer().notNull(),
  },
  ({ month, userId, keyId }) => [
    primaryKey({ columns: [month, userId, keyId] }),
    index('usage_by_month_of_user').on(userId),
  ],
)

/** At most one row: the last day and user, in this order, whose counts are in `usageByMonth`. */
export const summedUsage = sqliteTable('summed_usage', {
  id: integer().primaryKey(),
  day: integer().notNull(),
  userId: text('user_id').notNull(),
})

export const usageOfAll = sqliteTable(
  'usage_of_all',
  {
    day: integer().notNull(),
    operation: text().notNull(),
    status: integer().notNull(),
    requests: integer().notNull(),
  },
  ({ day, operation, status }) => [primaryKey({ columns: [day, operation, status] })],
)
