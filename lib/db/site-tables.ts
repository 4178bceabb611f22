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
    index('site_links_by_expiry').on(table.expiresAt),
  ],
)

/** Sites whose owners want a mail when a metric turns poor. */
export const vitalsAlerts = sqliteTable(
  'vitals_alerts',
  {
    siteId: text('site_id')
      .primaryKey()
      .references(() => sites.id, { onDelete: 'cascade' }),
    userId: text('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    createdAt: integer('created_at').notNull(),
    /** The last day that was judged, in days since 1970-01-01. */
    day: integer().notNull(),
    /** What was poor when it was last judged, such as `mobile-lcp,desktop-cls`. */
    poor: text().notNull(),
  },
  (table) => [index('vitals_alerts_by_user').on(table.userId, table.siteId)],
)
