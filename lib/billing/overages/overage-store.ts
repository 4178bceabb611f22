import { overagePeriods, overageReports, subscriptions } from '../db/billing-tables.ts'
import { and, count, eq, gt, gte, inArray, isNotNull, isNull, lt, sql, sum } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import { usageByPeriod } from '../db/tables.ts'
import { unit } from '../db/unit.ts'
import type { OverageReport, UnreportedPeriod } from './overage-report.ts'

/** Periods of the user, or of everybody, with units that are in no report, and none on its way. */
export function listUnreported(db: Db, userId: string | null): UnreportedPeriod[] {
  const { overage, overageReported } = usageByPeriod
  return db
    .select({
      period: overagePeriods,
      counted: overage,
      reported: overageReported,
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

/** Puts the report into the outbox, unless somebody else has reported units of it meanwhile. */
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
  return unit(db, [mark, db.insert(overageReports).values(report)])
}

/** What is not known to have arrived, oldest first. */
export function listUnsent(db: Db, userId: string | null): OverageReport[] {
  const { sentAt } = overageReports
  const isWanted = userId === null ? undefined : eq(overageReports.userId, userId)
  const unsent = db
    .select()
    .from(overageReports)
    .where(and(isNull(sentAt), isWanted))
    .all()
  return unsent.toSorted((a, b) => a.at - b.at)
}

/** How many reports are not known to have arrived, and how many of them were refused. */
export function countUnsent(db: Db): { readonly unsent: number; readonly refused: number } {
  const { sentAt, refusedAt } = overageReports
  const row = db
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
  const isIt = eq(overageReports.identifier, identifier)
  await unit(db, [db.update(overageReports).set(change).where(isIt)])
}

/** Units of the customer that are known to have arrived, of the times from `start` up to `end`. */
export function countArrived(
  db: Db,
  customerId: string,
  { start, end }: { readonly start: number; readonly end: number },
): number {
  const { at, sentAt, toUnits, fromUnits } = overageReports
  const isOfCustomer = eq(overageReports.customerId, customerId)
  const row = db
    .select({ units: sum(sql`${toUnits} - ${fromUnits}`).mapWith(Number) })
    .from(overageReports)
    .where(and(isOfCustomer, isNotNull(sentAt), gte(at, start), lt(at, end)))
    .get()
  return row?.units ?? 0
}

/** Whether a later invoice takes units of the user. */
export function hasOverageItem(db: Db, { userId }: OverageReport): boolean {
  const { overageItemId } = subscriptions
  const row = db
    .select({ overageItemId })
    .from(subscriptions)
    .where(eq(subscriptions.userId, userId))
    .get()
  return typeof row?.overageItemId === 'string'
}

/** So few at once that no request waits for long. */
const STEP_ROWS = 500

/** Removes what is older than `before`, in epoch milliseconds, in small steps. */
export async function removeOldReports(db: Db, before: number): Promise<void> {
  const { identifier, at } = overageReports
  const old = db.select({ identifier }).from(overageReports).where(lt(at, before)).limit(STEP_ROWS)
  const remove = db.delete(overageReports).where(inArray(identifier, old))
  while (remove.run().changes === STEP_ROWS) await new Promise((resolve) => setImmediate(resolve))
  db.delete(overagePeriods).where(lt(overagePeriods.periodEnd, before)).run()
}
