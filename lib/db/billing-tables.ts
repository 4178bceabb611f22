import { index, integer, isNull, primaryKey, sqliteTable, text, uniqueIndex } from './drizzle.ts'
import { users } from './tables.ts'

/** Who is a customer of the payment processor. */
export const billingCustomers = sqliteTable('billing_customers', {
  userId: text('user_id')
    .primaryKey()
    .references(() => users.id, { onDelete: 'cascade' }),
  customerId: text('customer_id').notNull().unique(),
  /** How often something was taken over from the processor. */
  revision: integer().notNull().default(0),
  createdAt: integer('created_at').notNull(),
})

const ofCustomer = () =>
  text('user_id')
    .primaryKey()
    .references(() => billingCustomers.userId, { onDelete: 'cascade' })

/** The subscription that counts for a user. */
export const subscriptions = sqliteTable('subscriptions', {
  userId: ofCustomer(),
  id: text().notNull().unique(),
  itemId: text('item_id').notNull(),
  plan: text().notNull(),
  /** As the processor names it. */
  status: text().notNull(),
  periodStart: integer('period_start').notNull(),
  periodEnd: integer('period_end').notNull(),
  /** null: it goes on. */
  cancelAt: integer('cancel_at'),
  overages: integer({ mode: 'boolean' }).notNull(),
  overageItemId: text('overage_item_id'),
})

export const planPreviews = sqliteTable('plan_previews', {
  userId: ofCustomer(),
  plan: text().notNull(),
  prorationAt: integer('proration_at').notNull(),
})

export const processorEvents = sqliteTable(
  'processor_events',
  {
    id: text().primaryKey(),
    type: text().notNull(),
    receivedAt: integer('received_at').notNull(),
  },
  (table) => [index('processor_events_by_time').on(table.receivedAt)],
)

/** Who pays for the overage of a period, also after it; kept by triggers on `subscriptions`. */
export const overagePeriods = sqliteTable(
  'overage_periods',
  {
    userId: text('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    periodStart: integer('period_start').notNull(),
    periodEnd: integer('period_end').notNull(),
    customerId: text('customer_id').notNull(),
    subscriptionId: text('subscription_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.periodStart] })],
)

/** The outbox of overages: units `fromUnits` to `toUnits` of a period. */
export const overageReports = sqliteTable(
  'overage_reports',
  {
    identifier: text().primaryKey(),
    userId: text('user_id').notNull(),
    customerId: text('customer_id').notNull(),
    subscriptionId: text('subscription_id').notNull(),
    periodStart: integer('period_start').notNull(),
    periodEnd: integer('period_end').notNull(),
    fromUnits: integer('from_units').notNull(),
    toUnits: integer('to_units').notNull(),
    /** The time that the processor is told. */
    at: integer().notNull(),
    firstTriedAt: integer('first_tried_at'),
    sentAt: integer('sent_at'),
    /** When the processor last refused it for a reason that does not pass by itself. */
    refusedAt: integer('refused_at'),
  },
  (table) => [
    uniqueIndex('overage_reports_unsent')
      .on(table.userId, table.periodStart)
      .where(isNull(table.sentAt)),
    index('overage_reports_by_customer').on(table.customerId, table.at),
    index('overage_reports_by_time').on(table.at),
  ],
)
