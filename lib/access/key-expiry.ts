import { ACCESS_STATUSES } from '../config/entitlement.ts'
import { DEMO_PLAN, type Plans } from '../config/plans.ts'
import { and, eq, integerOf, sql } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import { apiKeys } from '../db/tables.ts'
import type { Statement } from '../db/transaction.ts'
import { DAY_MS } from '../parts/durations.ts'

const YEAR_MS = 365 * DAY_MS

/** Keys of plans without a price expire a year after creation or renewal; those of other plans never do. */
export function keyExpiry(plan: { readonly price: number }, now: number): number | null {
  return plan.price === 0 ? now + YEAR_MS : null
}

/**
 * Adjusts the expiry of keys to the plans in effect. Keys of paid plans lose their expiry; keys of the
 * free plan without one get a year from now. The demo key stays as it is. Run it after each change of
 * a plan, in the same transaction. Without `userId` it adjusts the keys of all users.
 */
export function alignKeyExpiry(db: Db, plans: Plans, now: number, userId?: string): Statement {
  const paid = [...plans.assignable, ...plans.removed]
    .filter(({ price }) => price > 0)
    .map(({ id }) => id)
  // In SQL, because drizzle does not qualify the columns of an UPDATE that the subqueries compare.
  const plan = sql`coalesce(
    (SELECT plan FROM subscriptions AS s
     WHERE s.user_id = api_keys.user_id AND s.status IN ${ACCESS_STATUSES}),
    (SELECT plan FROM users AS u WHERE u.id = api_keys.user_id))`
  const isPaid = paid.length === 0 ? sql`FALSE` : sql`(${plan} IN ${paid})`
  const isMisfit = sql`(expires_at IS NOT NULL) = ${isPaid} AND ${plan} <> ${DEMO_PLAN.id}`
  return db
    .update(apiKeys)
    .set({ expiresAt: sql`CASE WHEN ${isPaid} THEN NULL ELSE ${integerOf(now + YEAR_MS)} END` })
    .where(userId === undefined ? isMisfit : and(eq(apiKeys.userId, userId), isMisfit))
}
