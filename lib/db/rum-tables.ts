import { blob, integer, primaryKey, real, sqliteTable, text } from './drizzle.ts'

/** Of telemetry, which writes and reads by plain statements. A test compares them with the SQL. */

export const rumJournal = sqliteTable(
  'rum_journal',
  {
    siteId: text('site_id').notNull(),
    id: integer().notNull(),
    receivedAt: integer('received_at').notNull(),
    /** Empty: unknown. */
    country: text().notNull(),
    beacon: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.siteId, table.id] })],
)

/** Hours since 1970-01-01, UTC; country and device are empty where unknown. */
const hourKey = {
  siteId: text('site_id').notNull(),
  hour: integer().notNull(),
  country: text().notNull(),
  device: text().notNull(),
}

const stored = {
  samples: integer().notNull(),
  sketches: blob().notNull(),
  /** Of the journal; the last one that is in it. */
  lastId: integer('last_id').notNull().default(0),
}

export const rumHours = sqliteTable(
  'rum_hours',
  {
    ...hourKey,
    samples: integer().notNull(),
    lcpP50: real('lcp_p50'),
    lcpP75: real('lcp_p75'),
    lcpP95: real('lcp_p95'),
    inpP50: real('inp_p50'),
    inpP75: real('inp_p75'),
    inpP95: real('inp_p95'),
    clsP50: real('cls_p50'),
    clsP75: real('cls_p75'),
    clsP95: real('cls_p95'),
    ttfbP50: real('ttfb_p50'),
    ttfbP75: real('ttfb_p75'),
    ttfbP95: real('ttfb_p95'),
    fidP50: real('fid_p50'),
    fidP75: real('fid_p75'),
    fidP95: real('fid_p95'),
  },
  (table) => [primaryKey({ columns: [table.siteId, table.hour, table.country, table.device] })],
)

export const rumSketches = sqliteTable('rum_sketches', { ...hourKey, ...stored }, (table) => [
  primaryKey({ columns: [table.siteId, table.hour, table.country, table.device] }),
])

export const rumDays = sqliteTable(
  'rum_days',
  {
    siteId: text('site_id').notNull(),
    day: integer().notNull(),
    country: text().notNull(),
    device: text().notNull(),
    ...stored,
  },
  (table) => [primaryKey({ columns: [table.siteId, table.day, table.country, table.device] })],
)

export const rumPaths = sqliteTable(
  'rum_paths',
  {
    siteId: text('site_id').notNull(),
    day: integer().notNull(),
    path: text().notNull(),
    ...stored,
  },
  (table) => [primaryKey({ columns: [table.siteId, table.day, table.path] })],
)

export const rumErrors = sqliteTable(
  'rum_errors',
  {
    siteId: text('site_id').notNull(),
    hour: integer().notNull(),
    hash: text().notNull(),
    count: integer().notNull(),
    firstAt: integer('first_at').notNull(),
    lastAt: integer('last_at').notNull(),
    sample: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.siteId, table.hour, table.hash] })],
)

export const rumCounts = sqliteTable(
  'rum_counts',
  {
    siteId: text('site_id').notNull(),
    hour: integer().notNull(),
    kind: text().notNull(),
    label: text().notNull(),
    count: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.siteId, table.hour, table.kind, table.label] })],
)

/** Of the journal, the last entry whose errors and counters are in the tables above. */
export const rumCounted = sqliteTable('rum_counted', {
  siteId: text('site_id').primaryKey(),
  lastId: integer('last_id').notNull(),
})
