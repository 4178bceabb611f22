import { and, eq, gte, sql } from '../db/drizzle.ts'
import type { Queries } from '../db/queries.ts'
import type { RequestCounts } from './request-counts.ts'
import { usageByOperation } from './tables.ts'

interface DailyLookUps {
  readonly db: Queries
  readonly requestCounts: Pick<RequestCounts, 'waitingOf'>
}

/**
 * Reads the look-ups of the user since `fromDay` by day. Returns a function that adds those not written yet, without
 * waiting. Call both only while no write is under way: see `Ledger.betweenFlushes`.
 */
export async function readDailyLookUps(
  { db, requestCounts }: DailyLookUps,
  userId: string,
  fromDay: number,
): Promise<() => ReadonlyMap<number, number>> {
  const written = await selectDailyLookUps(db, userId, fromDay).all()
  return () => {
    const days = new Map(written.map(({ day, lookUps }) => [day, lookUps]))
    for (const { day, lookUps } of requestCounts.waitingOf(userId)) {
      if (day >= fromDay && lookUps > 0) days.set(day, (days.get(day) ?? 0) + lookUps)
    }
    return days
  }
}

function selectDailyLookUps(db: Queries, userId: string, fromDay: number) {
  const { day, lookUps } = usageByOperation
  return db
    .select({ day, lookUps: sql<number>`sum(${lookUps})` })
    .from(usageByOperation)
    .where(and(eq(usageByOperation.userId, userId), gte(day, fromDay)))
    .groupBy(day)
}
