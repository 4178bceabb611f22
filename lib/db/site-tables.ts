import { index, integer, sqliteTable, text } from './drizzle.ts'
import { sites, users } from './tables.ts'

/** What belongs to a site and its owner. Times are epoch milliseconds. A test compares these tables with migrations/. */

/** Deleting the user or the site deletes the row. */
const ofSite = () => ({
  userId: text('user_id')
    .notNull()
    .references(() => users.id, { onDelete: 'cascade' }),
  siteId: text('site_id')
    .notNull()
    .references(() => sites.id, { onDelete: 'cascade' }),
})

/** Links that show the vitals of a site to whoever has them. */
export const siteLinks = sqliteTable(
  'site_links',
  {
    id: text().primaryKey(),
    ...ofSite(),
    /** SHA-256 of the token, hex. */
    hash: text().notNull().unique(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (table) => [
    index('site_links_by_site').on(table.siteId, table.expiresAt),
    index('site_links_by_user').on(table.userId, table.id),
  ],
)
