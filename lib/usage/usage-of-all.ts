import { dateOfDay } from '../config/period.ts'
import type { UsageRow } from '../contract/account/usage-details.ts'
import { subscriptions } from '../db/billing-tables.ts'
import {
  and,
  asc,
  desc,
  eq,
  getTableColumns,
  gt,
  gte,
  integer,
  lte,
  sql,
  sqliteView,
  text,
} from '../db/drizzle.ts'
import type { Queries } from '../db/queries.ts'
import { apiKeys, users } from '../db/tables.ts'
import { usageOfAll } from './tables.ts'

/** Days since 1970-01-01, UTC; both are included. */
interface Days {
  readonly from: number
  readonly to: number
}

/** Reads the requests of all users by day and `column`. */
export async function readDaysOfAll(
  db: Queries,
  days: Days,
  column: 'operation' | 'status',
): Promise<UsageRow[]> {
  const rows = await selectDaysOfAll(db, days, column).all()
  return rows.map(({ day, ...row }) => ({ day: dateOfDay(day), ...row }))
}

export function selectDaysOfAll(db: Queries, { from, to }: Days, column: 'operation' | 'status') {
  const { day, requests } = usageOfAll
  const by = usageOfAll[column]
  return db
    .select({ day, [column]: by, requests: sql<number>`sum(${requests})` })
    .from(usageOfAll)
    .where(and(gte(day, from), lte(day, to)))
    .groupBy(day, by)
}

/** Part of a list of a month. */
export interface MonthPage {
  /** The first day of the month. */
  readonly month: number
  /** Rows with the most of these come first; rows with none are left out. */
  readonly order: 'requests' | 'limited'
  readonly limit: number
  readonly offset: number
}

/** The counts of `usageByMonth`, and those that it lacks. A key may have several rows. */
const usageOfMonths = sqliteView('usage_of_months', {
  month: integer().notNull(),
  userId: text('user_id').notNull(),
  keyId: text('key_id').notNull(),
  requests: integer().notNull(),
  errors: integer().notNull(),
  limited: integer().notNull(),
}).existing()

const { month, userId, keyId } = usageOfMonths
const SUMS = {
  requests: sql<number>`sum(${usageOfMonths.requests})`.as('requests'),
  errors: sql<number>`sum(${usageOfMonths.errors})`.as('errors'),
  limited: sql<number>`sum(${usageOfMonths.limited})`.as('limited'),
}

/** Reads the users with the most requests in a month. */
export async function readTopUsers(db: Queries, page: MonthPage) {
  return selectTopUsers(db, page).all()
}

export function selectTopUsers(db: Queries, page: MonthPage) {
  const most = SUMS[page.order]
  // Joins the users after the limit, so that only those of the page are looked up.
  const top = db
    .select({ userId, ...SUMS })
    .from(usageOfMonths)
    .where(eq(month, page.month))
    .groupBy(userId)
    .having(sql`sum(${usageOfMonths[page.order]}) > 0`)
    .orderBy(desc(most), asc(userId))
    .limit(page.limit)
    .offset(page.offset)
    .as('top')
  return db
    .select({
      userId: top.userId,
      email: users.email,
      assignedPlan: users.plan,
      subscribed: getTableColumns(subscriptions),
      requests: top.requests,
      errors: top.errors,
      limited: top.limited,
    })
    .from(top)
    .innerJoin(users, eq(users.id, top.userId))
    .leftJoin(subscriptions, eq(subscriptions.userId, top.userId))
    .orderBy(desc(top[page.order]), asc(top.userId))
}

/** Reads the users who have sent requests in a month, in the order of their ids, from the one after `after` on. */
export async function readUsersOfMonth(db: Queries, wanted: UsersOfMonth) {
  return selectUsersOfMonth(db, wanted).all()
}

interface UsersOfMonth {
  readonly month: number
  readonly after: string
  readonly limit: number
}

export function selectUsersOfMonth(db: Queries, { month: first, after, limit }: UsersOfMonth) {
  const page = db
    .select({ userId, ...SUMS })
    .from(usageOfMonths)
    .where(and(eq(month, first), gt(userId, after)))
    .groupBy(userId)
    .orderBy(asc(userId))
    .limit(limit)
    .as('page')
  return db
    .select({
      userId: page.userId,
      email: users.email,
      assignedPlan: users.plan,
      subscribed: getTableColumns(subscriptions),
      requests: page.requests,
      errors: page.errors,
      limited: page.limited,
    })
    .from(page)
    .innerJoin(users, eq(users.id, page.userId))
    .leftJoin(subscriptions, eq(subscriptions.userId, page.userId))
    .orderBy(asc(page.userId))
}

/** Reads the keys, and sessions of a user, with the most requests in a month. */
export async function readTopKeys(db: Queries, page: Omit<MonthPage, 'order'>) {
  return selectTopKeys(db, page).all()
}

export function selectTopKeys(db: Queries, page: Omit<MonthPage, 'order'>) {
  const top = db
    .select({ userId, keyId, ...SUMS })
    .from(usageOfMonths)
    .where(eq(month, page.month))
    .groupBy(userId, keyId)
    .orderBy(desc(SUMS.requests), asc(userId), asc(keyId))
    .limit(page.limit)
    .offset(page.offset)
    .as('top')
  return db
    .select({
      userId: top.userId,
      email: users.email,
      keyId: top.keyId,
      /** null: the key is revoked, or these are sessions. */
      key: { name: apiKeys.name, prefix: apiKeys.prefix },
      requests: top.requests,
      errors: top.errors,
      limited: top.limited,
    })
    .from(top)
    .innerJoin(users, eq(users.id, top.userId))
    .leftJoin(apiKeys, eq(apiKeys.id, top.keyId))
    .orderBy(desc(top.requests), asc(top.userId), asc(top.keyId))
}
