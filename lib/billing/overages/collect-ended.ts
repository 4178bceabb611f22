import { overagePeriods, subscriptions } from '../../db/billing-tables.ts'
import { and, eq, gt, isNull } from '../../db/drizzle.ts'
import type { Db } from '../../db/open.ts'
import { DAY_MS } from '../../parts/durations.ts'
import type { Billing } from '../billing.ts'

/** Events come for three days; a reconciliation runs every hour. */
const LATELY_MS = 4 * DAY_MS

/**
 * Collects the overages of subscriptions that have ended lately, of one user or of all (null): "During
 * cancellation, automatic collection for all unpaid invoices is disabled"
 * (https://docs.stripe.com/billing/subscriptions/overview). Call it once the last units are reported. A
 * failure is logged, and does not hold up the other subscriptions.
 */
export async function collectEnded(
  { db, openStripe, overagePrice, onDelayed }: Billing,
  userId: string | null,
  now: number,
): Promise<void> {
  for (const subscription of await listEnded(db, userId, now - LATELY_MS)) {
    await openStripe()
      .collectUsage(subscription, overagePrice)
      .catch((error) => onDelayed(error, CANNOT_COLLECT, { subscription }))
  }
}

export const CANNOT_COLLECT = 'cannot collect the requests over the cap of an ended subscription'

/** Subscriptions with overages in a period that had not ended before `since`, but those that count now. */
async function listEnded(db: Db, userId: string | null, since: number): Promise<string[]> {
  const { subscriptionId: id, userId: owner, periodEnd } = overagePeriods
  const rows = await db
    .selectDistinct({ id })
    .from(overagePeriods)
    .leftJoin(subscriptions, eq(subscriptions.id, id))
    .where(
      and(
        isNull(subscriptions.id),
        gt(periodEnd, since),
        userId === null ? undefined : eq(owner, userId),
      ),
    )
    .all()
  return rows.map((row) => row.id)
}

/** All subscriptions for which the user had overages in the last weeks. */
export async function listWithOverages(db: Db, userId: string): Promise<string[]> {
  const { subscriptionId: id, userId: owner } = overagePeriods
  const rows = await db.selectDistinct({ id }).from(overagePeriods).where(eq(owner, userId)).all()
  return rows.map((row) => row.id)
}
