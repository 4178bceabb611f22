import { setImmediate as nextTurn } from 'node:timers/promises'
import { overagePeriods, overageReports, usageByPeriod } from '../../db/billing-tables.ts'
import {
  and,
  count,
  eq,
  gt,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  sql,
  sum,
} from '../../db/drizzle.ts'
import type { Db } from '../../db/open.ts'
import { runInTransaction } from '../../db/transaction.ts'

/** An entry of the outbox: units of a period to report to Stripe. It is kept after it is sent. */
export type OverageReport = typeof overageReports.$inferSelect

/** A period with units that are in no report yet. */
export type UnreportedPeriod = Awaited<ReturnType<typeof listUnreported>>[number]

/** Periods of one user, or of all (null), that have unreported units but no unsent report. */
export async function listUnreported(db: Db, userId: string | null) {
  const { overage, overageReported } = usageByPeriod
  return db
    .select({
      period: overagePeriods,
      counted: overage,
      reported: overageReported,
      /** Epoch milliseconds; 0: never. */
      reportedAt: usageByPeriod.overageReportedAt,
    })
    .from(usageByPeriod)
    .innerJoin(
      overagePeriods,
      and(
        eq(overagePeriods.userId, usageByPeriod.userId),
        eq(overagePeriods.periodStart, usageByPeriod.periodStart),
      ),
    )
    .leftJoin(
      overageReports,
      and(
        eq(overageReports.userId, usageByPeriod.userId),
        eq(overageReports.periodStart, usageByPeriod.periodStart),
        isNull(overageReports.sentAt),
      ),
    )
    .where(
      and(
        gt(overage, overageReported),
        isNull(overageReports.identifier),
        userId === null ? undefined : eq(usageByPeriod.userId, userId),
      ),
    )
    .all()
}

/** Adds the report to the outbox, unless another process has reported its units in the meantime. */
export async function addReport(db: Db, report: OverageReport, now: number): Promise<boolean> {
  const { userId, periodStart, fromUnits, toUnits } = report
  const mark = db
    .update(usageByPeriod)
    .set({ overageReported: toUnits, overageReportedAt: now })
    .where(
      and(
        eq(usageByPeriod.userId, userId),
        eq(usageByPeriod.periodStart, periodStart),
        eq(usageByPeriod.overageReported, fromUnits),
      ),
    )
  return runInTransaction(db, [mark, db.insert(overageReports).values(report)])
}

/** Reports of one user, or of all (null), that Stripe has not confirmed, oldest first. */
export async function listUnsent(db: Db, userId: string | null): Promise<OverageReport[]> {
  const { sentAt } = overageReports
  const isWanted = userId === null ? undefined : eq(overageReports.userId, userId)
  const unsent = await db
    .select()
    .from(overageReports)
    .where(and(isNull(sentAt), isWanted))
    .all()
  return unsent.toSorted((a, b) => a.at - b.at)
}

/** Counts the reports that Stripe has not confirmed, and those of them that Stripe refused. */
export async function countUnsent(db: Db) {
  const { sentAt, refusedAt } = overageReports
  const row = await db
    .select({ unsent: count(), refused: count(refusedAt) })
    .from(overageReports)
    .where(isNull(sentAt))
    .get()
  return row ?? { unsent: 0, refused: 0 }
}

export async function changeReport(
  db: Db,
  { identifier }: OverageReport,
  change: Partial<Pick<OverageReport, 'at' | 'firstTriedAt' | 'sentAt' | 'refusedAt'>>,
): Promise<void> {
  const isReport = eq(overageReports.identifier, identifier)
  await runInTransaction(db, [db.update(overageReports).set(change).where(isReport)])
}

/** From `start` up to `end`, in epoch milliseconds. */
export interface MeteredTime {
  readonly start: number
  readonly end: number
}

/** Sums the customer's units that Stripe has confirmed, dated from `start` up to `end`. */
export async function countArrived(
  db: Db,
  customerId: string,
  { start, end }: MeteredTime,
): Promise<number> {
  const { at, sentAt, toUnits, fromUnits } = overageReports
  const isOfCustomer = eq(overageReports.customerId, customerId)
  const row = await db
    .select({ units: sum(sql`${toUnits} - ${fromUnits}`).mapWith(Number) })
    .from(overageReports)
    .where(and(isOfCustomer, isNotNull(sentAt), gte(at, start), lt(at, end)))
    .get()
  return row?.units ?? 0
}

/** Rows per statement, so that no request waits long. */
const STEP_ROWS = 500

/**
 * Removes sent reports, and periods, older than `before`, in epoch milliseconds. Unsent ones stay, as
 * the clock may be wrong.
 */
export async function removeOldReports(db: Db, before: number): Promise<void> {
  const { identifier, at, sentAt } = overageReports
  const isOld = and(lt(at, before), isNotNull(sentAt))
  const old = db.select({ identifier }).from(overageReports).where(isOld).limit(STEP_ROWS)
  const remove = db.delete(overageReports).where(inArray(identifier, old))
  while ((await remove.run()).changes === STEP_ROWS) await nextTurn()
  await db.delete(overagePeriods).where(lt(overagePeriods.periodEnd, before)).run()
}
