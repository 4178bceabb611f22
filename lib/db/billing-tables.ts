import {
  index,
  integer,
  isNull,
  primaryKey,
  real,
  sql,
  sqliteTable,
  text,
  uniqueIndex,
} from './drizzle.ts'
import { users } from './tables.ts'

/** Each plan as the settings last had it. */
export const knownPlans = sqliteTable('known_plans', {
  id: text().primaryKey(),
  /** JSON of a `Plan`. */
  definition: text().notNull(),
})

/** Users who are customers at Stripe. */
export const billingCustomers = sqliteTable('billing_customers', {
  userId: text('user_id')
    .primaryKey()
    .references(() => users.id, { onDelete: 'cascade' }),
  customerId: text('customer_id').notNull().unique(),
  /** Counts how often the subscription was read from Stripe. */
  revision: integer().notNull().default(0),
  createdAt: integer('created_at').notNull(),
})

const ofCustomer = () =>
  text('user_id')
    .primaryKey()
    .references(() => billingCustomers.userId, { onDelete: 'cascade' })

const interval = () =>
  text({ enum: ['month', 'year'] })
    .notNull()
    .default('month')

/** The current subscription of each user, as last read from Stripe. */
export const subscriptions = sqliteTable(
  'subscriptions',
  {
    userId: ofCustomer(),
    id: text().notNull().unique(),
    itemId: text('item_id').notNull(),
    plan: text().notNull(),
    /** Status as Stripe names it. */
    status: text().notNull(),
    periodStart: integer('period_start').notNull(),
    periodEnd: integer('period_end').notNull(),
    /** null: not canceled. */
    cancelAt: integer('cancel_at'),
    overages: integer({ mode: 'boolean' }).notNull(),
    overageItemId: text('overage_item_id'),
    /** The dearer plan of the last change, and until when it is paid: see `readPaid`. */
    chargedFrom: text('charged_from').notNull().default(''),
    /** How often it is paid. */
    interval: interval(),
    /** The price of the plan; null: not read yet. */
    priceId: text('price_id'),
    /** ISO 4217, in lower case; null: not read yet. */
    currency: text(),
    /** null: not in a trial. */
    trialEnd: integer('trial_end'),
    /** The price of a change whose payment the customer must confirm; null: none. */
    pendingPrice: text('pending_price'),
    /** The price of the last change in this period that was not confirmed in time; null: none. */
    lapsedPrice: text('lapsed_price'),
  },
  ({ status, interval, priceId, currency }) => [
    index('subscriptions_by_price').on(status, interval, priceId, currency),
  ],
)

/** The price of a request over the cap, as last read from Stripe: at most one row. */
export const overagePrices = sqliteTable('overage_prices', {
  id: text().primaryKey(),
  currency: text().notNull(),
  /** A decimal, in the smallest unit of the currency. */
  unitAmount: text('unit_amount').notNull(),
  readAt: integer('read_at').notNull(),
  /** JSON, from other currencies to what a unit costs in them. */
  others: text().notNull().default('{}'),
})

/** The most that each user wants to pay in a period for requests over the cap. */
export const spendingCaps = sqliteTable('spending_caps', {
  userId: text('user_id')
    .primaryKey()
    .references(() => users.id, { onDelete: 'cascade' }),
  currency: text().notNull(),
  /** In the smallest unit of the currency. */
  amount: integer().notNull(),
})

/** The Stripe account that all customers belong to; at most one row. */
export const billingOwner = sqliteTable('billing_owner', {
  id: integer().primaryKey(),
  /** null: the key may not read it. */
  account: text(),
  mode: text({ enum: ['live', 'test'] }).notNull(),
})

/** How many changes of a customer's e-mail address and name Stripe lacks. A trigger on `users` writes it. */
export const contactChanges = sqliteTable('contact_changes', {
  userId: ofCustomer(),
  emails: integer().notNull(),
  names: integer().notNull(),
})

/** The plan change that each user last saw a price for. */
export const planPreviews = sqliteTable('plan_previews', {
  userId: ofCustomer(),
  plan: text().notNull(),
  prorationAt: integer('proration_at').notNull(),
  interval: interval(),
})

/** Users who have had a trial. */
export const trials = sqliteTable('trials', {
  userId: text('user_id')
    .primaryKey()
    .references(() => users.id, { onDelete: 'cascade' }),
  startedAt: integer('started_at').notNull(),
})

/** Addresses of users who have had a trial. The rows outlive the accounts. */
export const triedAddresses = sqliteTable('tried_addresses', {
  /** Keyed, so that nobody can try addresses without the secret. */
  hash: text().primaryKey(),
  firstAt: integer('first_at').notNull(),
})

/** Stripe's events that have had their effect. */
export const stripeEvents = sqliteTable(
  'processor_events',
  {
    id: text().primaryKey(),
    type: text().notNull(),
    receivedAt: integer('received_at').notNull(),
  },
  (table) => [index('processor_events_by_time').on(table.receivedAt)],
)

/** The customer who pays for the overage of a period. Triggers on `subscriptions` write it. */
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

/** Outbox of overage reports: units `fromUnits` to `toUnits` of a period. */
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
    /** Time of the usage, as sent to Stripe. */
    at: integer().notNull(),
    firstTriedAt: integer('first_tried_at'),
    sentAt: integer('sent_at'),
    /** When Stripe last refused the report for a reason that a retry cannot solve. */
    refusedAt: integer('refused_at'),
  },
  (table) => [
    uniqueIndex('overage_reports_unsent')
      .on(table.userId, table.periodStart)
      .where(isNull(table.sentAt)),
    index('overage_reports_by_customer').on(table.customerId, table.at),
    index('overage_reports_by_time').on(table.at),
    index('overage_reports_of_user').on(table.userId, table.identifier),
  ],
)

/** The requests of a billing period, which is what overages are charged by. */
export const usageByPeriod = sqliteTable(
  'usage_by_period',
  {
    userId: text('user_id').notNull(),
    periodStart: integer('period_start').notNull(),
    requests: integer().notNull(),
    /** Highest usage warning in the audit log, in per cent of the cap; 0: none. */
    warned: integer().notNull().default(0),
    /** Billable requests above the cap. */
    overage: integer().notNull().default(0),
    /** Billable requests already handed to the outbox, and the time of the last handover. */
    overageReported: integer('overage_reported').notNull().default(0),
    overageReportedAt: integer('overage_reported_at').notNull().default(0),
    /** The cap that `warned` refers to. */
    warnedCap: integer('warned_cap').notNull().default(0),
    /** The bucket of all keys of the user. */
    spent: real().notNull().default(0),
    spentAt: integer('spent_at').notNull().default(0),
    /** Highest announced spending cap, in requests. */
    warnedUnits: integer('warned_units').notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.userId, table.periodStart] }),
    index('usage_by_period_unreported')
      .on(table.userId)
      .where(sql`${table.overage} > ${table.overageReported}`),
  ],
)
