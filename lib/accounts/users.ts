import { DEMO_PLAN } from '../config/plans.ts'
import type { UserProfile } from '../contract/account/account-schemas.ts'
import { subscriptions } from '../db/billing-tables.ts'
import {
  and,
  asc,
  desc,
  eq,
  getTableColumns,
  inArray,
  isNotNull,
  isNull,
  ne,
  or,
  sql,
} from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import type { Queries } from '../db/queries.ts'
import { accounts, apiKeys, auditLog, users } from '../db/tables.ts'
import type { Statement } from '../db/transaction.ts'
import { normaliseEmail } from '../parts/email-address.ts'
import { OPERATOR_LABEL } from './audit.ts'

export type UserRow = typeof users.$inferSelect

/**
 * Id and name of the user to whom the landing page's key belongs. Not an e-mail address, so nobody can sign up
 * with it or reset its password.
 */
export const DEMO_USER = 'demo'

export async function findUserByEmail(db: Db, email: string): Promise<UserRow | null> {
  const hasEmail = eq(users.email, normaliseEmail(email))
  return (await db.select().from(users).where(hasEmail).get()) ?? null
}

export async function findUser(db: Db, id: string): Promise<UserRow | null> {
  return (await db.select().from(users).where(eq(users.id, id)).get()) ?? null
}

export async function isOperator(db: Db, id: string): Promise<boolean> {
  const found = await db.select({ role: users.role }).from(users).where(eq(users.id, id)).get()
  return found?.role === 'operator'
}

/** Not the account of the landing page's key. */
export const IS_PERSON = ne(users.plan, DEMO_PLAN.id)

/** All users with what their plan follows from and the number of their keys, oldest first. */
export async function listUsers(db: Db) {
  const { email, plan, role, emailVerified, createdAt } = users
  const keys = db.$count(apiKeys, eq(apiKeys.userId, users.id))
  const subscribed = getTableColumns(subscriptions)
  return db
    .select({ email, assignedPlan: plan, subscribed, role, emailVerified, createdAt, keys })
    .from(users)
    .leftJoin(subscriptions, eq(subscriptions.userId, users.id))
    .where(IS_PERSON)
    .orderBy(asc(createdAt), sql`users.rowid`)
    .all()
}

/** Whether the user can sign in, here or at the remote auth service. */
export async function hasSignedUp(db: Db, { id, remoteId }: UserRow): Promise<boolean> {
  if (remoteId !== null) return true
  const account = await db
    .select({ id: accounts.id })
    .from(accounts)
    .where(eq(accounts.userId, id))
    .get()
  return account !== undefined
}

/**
 * Whether an operator vouches for the owner of the account: since its address last changed, an operator has
 * created it, or a command has, or has set its password.
 */
export async function isVouchedFor(db: Db, id: string): Promise<boolean> {
  const { actorId, actorLabel, action, app } = auditLog
  const isByOperator = and(eq(app, 'dashboard'), eq(actorLabel, OPERATOR_LABEL))
  const isDecisive = or(
    eq(action, 'change_email'),
    and(or(eq(app, 'cli'), isByOperator), inArray(action, ['create_user', 'set_password'])),
  )
  const last = await db
    .select({ action })
    .from(auditLog)
    .where(and(eq(actorId, id), isDecisive))
    .orderBy(desc(auditLog.id))
    .limit(1)
    .get()
  return last !== undefined && last.action !== 'change_email'
}

/** Stores at which shares of the monthly cap, in per cent, the user gets mails. */
export function updateUsageMails(db: Db, id: string, percents: readonly number[]): Statement {
  const usageMails = JSON.stringify(percents)
  return db.update(users).set({ usageMails }).where(eq(users.id, id))
}

export function toProfile({ id, name, email, emailVerified, createdAt }: UserRow): UserProfile {
  return { id, name, email, emailVerified, createdAt: new Date(createdAt).toISOString() }
}

type NewUser = Pick<UserRow, 'email' | 'plan'> & { readonly now: number }

export function newUser({ email, plan, now }: NewUser): UserRow {
  return {
    id: crypto.randomUUID(),
    email: normaliseEmail(email),
    name: null,
    emailVerified: false,
    plan,
    createdAt: now,
    updatedAt: now,
    image: null,
    usageMails: null,
    remoteId: null,
    role: 'user',
    disabledAt: null,
  }
}

/** Does nothing if the e-mail address is taken. */
export function insertUser(db: Queries, user: UserRow): Statement {
  return db.insert(users).values(user).onConflictDoNothing()
}

export function updatePlan(db: Db, userId: string, plan: string): Statement {
  return db.update(users).set({ plan }).where(eq(users.id, userId))
}

/**
 * Disables the account from `at` on, in epoch milliseconds; null enables it. Changes no row if nothing
 * would change, or to disable an operator.
 */
export function setDisabled(db: Db, userId: string, at: number | null): Statement {
  const mayChange =
    at === null
      ? isNotNull(users.disabledAt)
      : and(isNull(users.disabledAt), eq(users.role, 'user'))
  return db
    .update(users)
    .set({ disabledAt: at })
    .where(and(eq(users.id, userId), mayChange))
}

/** Takes the role `operator` away from the user, unless no other user has it. */
export function removeOperatorRole(db: Db, userId: string): Statement {
  const others = sql`(SELECT count(*) FROM users AS others WHERE others.role = 'operator' AND others.id <> ${userId})`
  return db
    .update(users)
    .set({ role: 'user' })
    .where(and(eq(users.id, userId), eq(users.role, 'operator'), sql`${others} > 0`))
}

export function updateRole(db: Db, userId: string, role: UserRow['role']): Statement {
  return db.update(users).set({ role }).where(eq(users.id, userId))
}
