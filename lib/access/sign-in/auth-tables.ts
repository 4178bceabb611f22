import { integer, sqliteTable, text } from '../db/drizzle.ts'

/*
 * The tables of sign-in under the names that better-auth has for them, with times as dates. They
 * are those of db/tables.ts, which keeps times as numbers.
 */

const date = (name: string) => integer(name, { mode: 'timestamp_ms' })
const flag = (name: string) => integer(name, { mode: 'boolean' })

const user = sqliteTable('users', {
  id: text().primaryKey(),
  email: text().notNull(),
  name: text(),
  emailVerified: flag('email_verified').notNull(),
  image: text(),
  plan: text().notNull(),
  createdAt: date('created_at').notNull(),
  updatedAt: date('updated_at').notNull(),
})

const session = sqliteTable('sessions', {
  id: text().primaryKey(),
  userId: text('user_id').notNull(),
  token: text('token_hash').notNull(),
  ipAddress: text('ip_address'),
  userAgent: text('user_agent'),
  createdAt: date('created_at').notNull(),
  updatedAt: date('updated_at').notNull(),
  expiresAt: date('expires_at').notNull(),
})

const account = sqliteTable('accounts', {
  id: text().primaryKey(),
  userId: text('user_id').notNull(),
  providerId: text('provider_id').notNull(),
  accountId: text('account_id').notNull(),
  password: text(),
  createdAt: date('created_at').notNull(),
  updatedAt: date('updated_at').notNull(),
})

const verification = sqliteTable('verifications', {
  id: text().primaryKey(),
  identifier: text().notNull(),
  value: text().notNull(),
  createdAt: date('created_at').notNull(),
  updatedAt: date('updated_at').notNull(),
  expiresAt: date('expires_at').notNull(),
})

export const authTables = { user, session, account, verification }
