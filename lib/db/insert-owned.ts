import type { usageReceivers } from './contact-tables.ts'
import { and, eq, getTableColumns, integerOf, type SQL, sql } from './drizzle.ts'
import type { Queries } from './queries.ts'
import type { siteLinks } from './site-tables.ts'
import { type apiKeys, type sites, users } from './tables.ts'

type OwnedTable = typeof apiKeys | typeof sites | typeof siteLinks | typeof usageReceivers

interface OwnedLimit {
  readonly max: number
  /** The rows that count; default: all of the user. */
  readonly counted?: SQL
}

/**
 * Inserts the row unless its user is gone or already owns `max` rows of the table. It is one
 * statement, so that the limit is exact even if several run at once.
 */
export function insertOwned<Table extends OwnedTable>(
  db: Queries,
  table: Table,
  row: Table['$inferSelect'],
  { max, counted }: OwnedLimit,
) {
  const owned = db.$count(table, and(eq(table.userId, row.userId), counted))
  const isAllowed = and(eq(users.id, row.userId), sql`${owned} < ${max}`)
  const values = Object.entries(getTableColumns(table)).map(([name, column]) => {
    // safe: the row has the columns of the table
    const value = sql.param(row[name as keyof typeof row], column)
    return column.getSQLType() === 'integer' ? integerOf(value) : value
  })
  return db
    .insert(table)
    .select(sql`SELECT ${sql.join(values, sql`, `)} FROM ${users} WHERE ${isAllowed}`)
}
