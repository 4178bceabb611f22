import type { Scope } from '../contract/operation.ts'
import {
  index,
  integer,
  isNotNull,
  primaryKey,
  real,
  sql,
  sqliteTable,
  text,
  unique,
  uniqueIndex,
} from './drizzle.ts'

/** Times are epoch milliseconds. A test compares these tables with the SQL in migrations/. */

export const users = sqliteTable(
  'users',
  {
    id: text().primaryKey(),
    email: text().notNull().unique(),
    name: text(),
    emailVerified: integer('email_verified', { mode: 'boolean' }).notNull().default(false),
    plan: text().notNull(),
    createdAt: integer('created_at').notNull(),
    image: text(),
    updatedAt: integer('updated_at').notNull().default(0),
    /** Id of the user at a remote auth service. */
    remoteId: text('remote_id'),
    role: text({ enum: ['user', 'operator'] })
      .notNull()
      .default('user'),
    /** null: not disabled by an operator. */
    disabledAt: integer('disabled_at'),
    /** At which shares of the monthly cap, in per cent, mails are sent: JSON; null: the default. */
    usageMails: text('usage_mails'),
  },
  (table) => [
    uniqueIndex('users_by_remote_id').on(table.remoteId),
    index('users_disabled').on(table.email).where(isNotNull(table.disabledAt)),
    index('users_by_time').on(table.createdAt, table.plan),
    index('users_operators').on(table.email).where(sql`${table.role} = 'operator'`),
  ],
)

/** Accounts that a command asks the running server to delete. */
export const deletionRequests = sqliteTable('account_endings', {
  userId: text('user_id')
    .primaryKey()
    .references(() => users.id, { onDelete: 'cascade' }),
  /** For the audit log. */
  command: text().notNull(),
  /** Why the server could not delete the account; null: it has not tried. */
  refusal: text(),
})

/** Id of the owner. Deleting the user deletes the row. */
const ofUser = () =>
  text('user_id')
    .notNull()
    .references(() => users.id, { onDelete: 'cascade' })

export const apiKeys = sqliteTable(
  'api_keys',
  {
    id: text().primaryKey(),
    userId: ofUser(),
    /** SHA-256 of the key text, hex. */
    hash: text().notNull().unique(),
    prefix: text().notNull(),
    name: text().notNull(),
    type: text({ enum: ['secret', 'publishable'] }).notNull(),
    /** null: all scopes. */
    scopes: text({ mode: 'json' }).$type<readonly Scope[]>(),
    allowedOrigins: text('allowed_origins', { mode: 'json' }).$type<readonly string[]>(),
    createdAt: integer('created_at').notNull(),
    /** On days that are added to their months: see lib/usage/past-days.ts. `listUsedKeys` knows later uses. */
    lastUsedAt: integer('last_used_at'),
    /** When the plan lets it expire; null: never. */
    expiresAt: integer('expires_at'),
    /** When it ends whatever the plan; null: never. */
    endsAt: integer('ends_at'),
    /** The days that its owner chose for it; null: none. */
    lifetimeDays: integer('lifetime_days'),
    /** Id of the key that replaces it; null: none does. */
    replacedBy: text('replaced_by'),
  },
  (table) => [index('api_keys_by_user').on(table.userId, table.createdAt)],
)

/** Users whose access changed; the latest change has the highest revision. Written by triggers. */
export const accessChanges = sqliteTable('access_changes', {
  userId: text('user_id').primaryKey(),
  revision: integer().notNull().unique(),
})

export const sites = sqliteTable(
  'sites',
  {
    id: text().primaryKey(),
    userId: ofUser(),
    /** An origin, normalised. */
    name: text().notNull(),
    createdAt: integer('created_at').notNull(),
    /** null: no valid proof of the host. */
    provenAt: integer('proven_at'),
    missingSince: integer('missing_since'),
    checkedAt: integer('checked_at'),
    /** Whether the site gets the telemetry of its origin without a proof: see `addSite`. */
    isFirst: integer('is_first', { mode: 'boolean' }).notNull().default(false),
    /** The host name of the origin. */
    host: text().notNull().default(''),
  },
  (table) => [
    unique().on(table.userId, table.name),
    index('sites_by_name').on(table.name, table.isFirst),
    index('sites_in_order').on(table.name, table.id),
    index('sites_by_host').on(table.host, table.provenAt),
    index('sites_proven').on(table.checkedAt).where(isNotNull(table.provenAt)),
  ],
)

export const auditLog = sqliteTable(
  'audit_log',
  {
    id: integer().primaryKey({ autoIncrement: true }),
    app: text({ enum: ['api', 'dashboard', 'cli', 'stripe'] }).notNull(),
    actorId: text('actor_id').notNull(),
    actorLabel: text('actor_label'),
    action: text().notNull(),
    targetType: text('target_type'),
    targetId: text('target_id'),
    detail: text(),
    createdAt: integer('created_at').notNull(),
    /** The searchable fields in lower case, one per line, the action first. */
    searchText: text('search_text')
      .notNull()
      .generatedAlwaysAs(
        sql`lower(action || char(10) || coalesce(detail, '') || char(10) || coalesce(target_type, '') || char(10) || coalesce(target_id, ''))`,
        { mode: 'virtual' },
      ),
  },
  (table) => [
    index('audit_log_by_actor').on(table.actorId, table.id),
    index('audit_log_by_action').on(table.actorId, table.action, table.id),
    index('audit_log_by_text').on(table.actorId, table.id, table.searchText),
    index('audit_log_of_action').on(table.action, table.id),
    index('audit_log_by_time').on(table.createdAt, table.id),
    index('audit_log_about').on(table.targetId, table.id).where(sql`${table.targetType} = 'user'`),
  ],
)

export const health = sqliteTable('health', {
  id: integer().primaryKey(),
  checkedAt: integer('checked_at').notNull(),
})

export const sessions = sqliteTable(
  'sessions',
  {
    id: text().primaryKey(),
    userId: ofUser(),
    /** SHA-256 of the token, hex; with a prefix for sessions of a remote auth service. */
    tokenHash: text('token_hash').notNull().unique(),
    ipAddress: text('ip_address'),
    userAgent: text('user_agent'),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (table) => [
    index('sessions_by_user').on(table.userId, table.id),
    index('sessions_by_expiry').on(table.expiresAt),
  ],
)

export const accounts = sqliteTable(
  'accounts',
  {
    id: text().primaryKey(),
    userId: ofUser(),
    /** `credential`: e-mail address and password. */
    providerId: text('provider_id').notNull(),
    accountId: text('account_id').notNull(),
    /** scrypt hash with its salt. */
    password: text(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
    /** The app that sets the password: a trigger reads it, and sets it to null. */
    setBy: text('set_by'),
  },
  (table) => [unique().on(table.userId, table.providerId)],
)

export const verifications = sqliteTable(
  'verifications',
  {
    id: text().primaryKey(),
    /** Hashed. */
    identifier: text().notNull(),
    value: text().notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (table) => [
    index('verifications_by_identifier').on(table.identifier),
    index('verifications_by_expiry').on(table.expiresAt),
    index('verifications_by_value').on(table.value),
  ],
)

/** Has a row once the server has had an account, other than that of the landing page. A trigger on `users` adds it. */
export const firstAccount = sqliteTable('first_account', { id: integer().primaryKey() })

/** Accounts at providers of databases, which an operator has entered. They are encrypted. */
export const providerAccounts = sqliteTable('provider_accounts', {
  provider: text().primaryKey(),
  sealed: text().notNull(),
})

/** Answers to requests that may arrive twice. */
export const keptAnswers = sqliteTable(
  'kept_answers',
  {
    /** Keyed hash, as `alias` and `body`. */
    id: text().primaryKey(),
    alias: text(),
    /** null if no user sent the request. Deleting the user deletes the row. */
    userId: text('user_id').references(() => users.id, { onDelete: 'cascade' }),
    body: text().notNull(),
    claim: text().notNull(),
    /** Encrypted; null while the request is being answered. */
    answer: text(),
    expiresAt: integer('expires_at').notNull(),
    /** What the new secret in the answer belongs to. Triggers delete the row once it no longer works. */
    secretOf: text('secret_of'),
  },
  (table) => [
    index('kept_answers_by_alias').on(table.alias),
    index('kept_answers_by_user').on(table.userId, table.expiresAt),
    index('kept_answers_by_expiry').on(table.expiresAt),
  ],
)

/** Codes of an authenticator app, asked for at sign-in. */
export const secondFactors = sqliteTable('second_factors', {
  userId: ofUser().primaryKey(),
  /** Encrypted. */
  secret: text().notNull(),
  /** null: the user has not entered a first code yet, so sign-in does not ask for one. */
  confirmedAt: integer('confirmed_at'),
  /** The time step of the newest code that was used. */
  lastStep: integer('last_step').notNull().default(0),
})

/** The codes that are still good. */
export const recoveryCodes = sqliteTable(
  'recovery_codes',
  {
    userId: text('user_id')
      .notNull()
      .references(() => secondFactors.userId, { onDelete: 'cascade' }),
    hash: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.hash] })],
)

/** Read at the start. Prepared statements write one row for each active caller, once a second. */
export const buckets = sqliteTable('buckets', {
  callerId: text('caller_id').primaryKey(),
  spent: real().notNull(),
  at: integer().notNull(),
})
