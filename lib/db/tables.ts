import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Scope } from '../contract/operation.ts'

/** Times are epoch milliseconds. The SQL in migrations/ is what counts; a test compares the two. */

export const users = sqliteTable('users', {
  id: text().primaryKey(),
  email: text().notNull().unique(),
  name: text(),
  emailVerified: integer('email_verified', { mode: 'boolean' }).notNull().default(false),
  plan: text().notNull(),
  createdAt: integer('created_at').notNull(),
})

export const apiKeys = sqliteTable(
  'api_keys',
  {
    id: text().primaryKey(),
    userId: text('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** SHA-256 of the key text, hex. */
    hash: text().notNull().unique(),
    prefix: text().notNull(),
    name: text().notNull(),
    type: text({ enum: ['secret', 'publishable'] }).notNull(),
    /** null: every scope. */
    scopes: text({ mode: 'json' }).$type<readonly Scope[]>(),
    allowedOrigins: text('allowed_origins', { mode: 'json' }).$type<readonly string[]>(),
    createdAt: integer('created_at').notNull(),
    lastUsedAt: integer('last_used_at'),
    /** null: never. */
    expiresAt: integer('expires_at'),
  },
  (table) => [index('api_keys_by_user').on(table.userId, table.createdAt)],
)

export const revisions = sqliteTable('revisions', {
  subject: text().primaryKey(),
  revision: integer().notNull(),
})

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
  },
  (table) => [index('audit_log_by_actor').on(table.actorId, table.id)],
)

export const health = sqliteTable('health', {
  id: integer().primaryKey(),
  checkedAt: integer('checked_at').notNull(),
})
