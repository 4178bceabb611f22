import { createRequire } from 'node:module'
import type { SQL } from 'drizzle-orm'

/**
 * Loads drizzle's CommonJS build. drizzle has a hundred ES modules, and for each of them Node.js would
 * parse the package.json with its 180 KB export list again, which takes half of the start time.
 */
const require = createRequire(import.meta.url)

// safe: another build of the same package
const orm = require('drizzle-orm') as typeof import('drizzle-orm')
const core = require('drizzle-orm/sqlite-core') as typeof import('drizzle-orm/sqlite-core')
const proxy = require('drizzle-orm/sqlite-proxy') as typeof import('drizzle-orm/sqlite-proxy')

export const { and, asc, count, desc, eq, exists, gt, gte, inArray, isNotNull, isNull, lt } = orm
export const { getTableColumns, lte, max, ne, notExists, or, sql, sum } = orm
export const { index, integer, primaryKey, real, sqliteTable, sqliteView, text } = core
export const { getTableConfig, unique, uniqueIndex } = core
export const { drizzle } = proxy
export type { BaseSQLiteDatabase, SQLiteColumn } from 'drizzle-orm/sqlite-core'
export type { SQL }

/** A number where PostgreSQL cannot tell the type of a parameter, and would take it for a text. */
export function integerOf(value: unknown): SQL {
  return sql`cast(${value} as bigint)`
}

/*
 * drizzle puts the values of a statement into the message of each error, and so into the log. The error
 * of the driver says enough.
 */
Object.defineProperty(proxy.RemotePreparedQuery.prototype, 'queryWithCache', {
  value: (_sql: string, _params: unknown[], run: () => Promise<unknown>) => run(),
})
