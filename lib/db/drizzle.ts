import { createRequire } from 'node:module'

/**
 * drizzle, by its CommonJS build: of ES modules Node.js reads the exports that their package.json
 * names anew for each file, and drizzle has a hundred files and 180 KB of them. That would be half of
 * the time that a start takes.
 */
const require = createRequire(import.meta.url)

// safe: the same package, by its other build
const orm = require('drizzle-orm') as typeof import('drizzle-orm')
const core = require('drizzle-orm/sqlite-core') as typeof import('drizzle-orm/sqlite-core')
const driver = require('drizzle-orm/better-sqlite3') as typeof import('drizzle-orm/better-sqlite3')

export const { and, asc, count, desc, eq, gt, gte, inArray, isNotNull, isNull, lt, lte } = orm
export const { max, notExists, or, sql, sum } = orm
export const { blob, index, integer, primaryKey, real, sqliteTable, text } = core
export const { getTableConfig, unique, uniqueIndex } = core
export const { drizzle } = driver
export type { SQL } from 'drizzle-orm'
export type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
export type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
