import { integer, sqliteTable, text } from '../../db/drizzle.ts'

/*
 * The sign-in tables of db/tables.ts under better-auth's names for their columns, with times as
 * dates instead of numbers.
 */

const date = (name: string) => integer(name, { mode: 'timestamp_ms' })
const flag = (name: string) => integer(name, { mode: 'boolean' })
const times = () => ({
  createdAt: date('created_at').notNull(),
  updatedAt: date('updated_at').notNull(),
})

const user = sqliteTable('users', {
  id: text().primaryKey(),
  email: text().notNull(),
  name: text(),
  emailVerified: flag('email_verified').notNull(),
  image: text(),
  plan: text().notNull(),
  ...times(),
})

const session = sqliteTable('sessions', {
  id: text().primaryKey(),
  userId: text('user_id').notNull(),
  token: text('token_hash').notNull(),
  ipAddress: text('ip_address'),
  userAgent: text('user_agent'),
  ...times(),
  expiresAt: date('expires_at').notNull(),
})

const account = sqliteTable('accounts', {
  id: text().primaryKey(),
  userId: text('user_id').notNull(),
  providerId: text('provider_id').notNull(),
  accountId: text('account_id').notNull(),
  password: text(),
  ...times(),
})

const verification = sqliteTable('verifications', {
  id: text().primaryKey(),
  identifier: text().notNull(),
  value: text().notNull(),
  ...times(),
  expiresAt: date('expires_at').notNull(),
})

export const authTables = { user, session, account, verification }
