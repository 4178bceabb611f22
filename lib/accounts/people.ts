import { ACCESS_STATUSES } from '../config/entitlement.ts'
import { subscriptions } from '../db/billing-tables.ts'
import {
  and,
  asc,
  count,
  eq,
  getTableColumns,
  gt,
  gte,
  isNotNull,
  isNull,
  lt,
  sql,
} from '../db/drizzle.ts'
import type { Queries } from '../db/queries.ts'
import { users } from '../db/tables.ts'
import { DAY_MS } from '../parts/durations.ts'
import { IS_PERSON } from './users.ts'

/** Which users a list shows. */
export type PeopleStatus = keyof typeof WHERE

export interface PeopleQuery {
  /** Beginning of the e-mail address, in lower case; empty: all. */
  readonly search: string
  /** Id of the plan in effect; empty: all. */
  readonly plan: string
  readonly status: PeopleStatus
  /** E-mail address of the last user of the page before; empty: the first page. */
  readonly after: string
  readonly limit: number
}

/** Literal SQL, because SQLite uses a partial index only if the query repeats its condition. */
const WHERE = {
  all: undefined,
  disabled: isNotNull(users.disabledAt),
  operators: sql`${users.role} = 'operator'`,
  unverified: and(eq(users.emailVerified, false), isNull(users.disabledAt)),
} as const

const planInEffect = sql`CASE WHEN ${subscriptions.status} IN ${ACCESS_STATUSES}
  THEN ${subscriptions.plan} ELSE ${users.plan} END`

const columns = {
  id: users.id,
  email: users.email,
  name: users.name,
  emailVerified: users.emailVerified,
  role: users.role,
  disabledAt: users.disabledAt,
  createdAt: users.createdAt,
  assignedPlan: users.plan,
  subscribed: getTableColumns(subscriptions),
}

/** A user as operators see one. */
export type Person = NonNullable<Awaited<ReturnType<typeof findPerson>>>

/** Reads one page of the users, in the order of their e-mail addresses. */
export async function readPeople(db: Queries, query: PeopleQuery): Promise<Person[]> {
  return selectPeople(db, query).all()
}

export function selectPeople(db: Queries, { search, plan, status, after, limit }: PeopleQuery) {
  // No character sorts higher, so this is above every address that begins so.
  const end = `${search}\u{10ffff}`
  const isInRange = and(gte(users.email, search), lt(users.email, end), gt(users.email, after))
  const hasPlan = plan === '' ? undefined : sql`${planInEffect} = ${plan}`
  return db
    .select(columns)
    .from(users)
    .leftJoin(subscriptions, eq(subscriptions.userId, users.id))
    .where(and(IS_PERSON, isInRange, WHERE[status], hasPlan))
    .orderBy(asc(users.email))
    .limit(limit)
}

/** How many people have joined within the last day, week and month of 30 days. */
export async function countSignUps(db: Queries, now: number) {
  const none = { day: 0, week: 0, month: 0 }
  return (await selectSignUps(db, now).get()) ?? none
}

export function selectSignUps(db: Queries, now: number) {
  const { createdAt } = users
  const since = (days: number) =>
    sql<number>`count(CASE WHEN ${createdAt} >= ${now - days * DAY_MS} THEN 1 END)`
  return db
    .select({ day: since(1), week: since(7), month: count() })
    .from(users)
    .where(and(gte(createdAt, now - 30 * DAY_MS), IS_PERSON))
}

export async function findPerson(db: Queries, id: string) {
  return db
    .select(columns)
    .from(users)
    .leftJoin(subscriptions, eq(subscriptions.userId, users.id))
    .where(eq(users.id, id))
    .get()
}
