import { stripeEvents } from '../../db/billing-tables.ts'
import { eq, lte, max } from '../../db/drizzle.ts'
import type { Db } from '../../db/open.ts'
import type { Statement } from '../../db/transaction.ts'
import { DAY_MS } from '../../parts/durations.ts'

/** Stripe tries to deliver an event for three days. */
const RETENTION_MS = 35 * DAY_MS

/** Whether the event has already had its effect. */
export async function hasReceived(db: Db, id: string): Promise<boolean> {
  const { id: column } = stripeEvents
  const row = await db.select({ id: column }).from(stripeEvents).where(eq(column, id)).get()
  return row !== undefined
}

export function insertEvent(db: Db, row: typeof stripeEvents.$inferSelect): Statement {
  return db.insert(stripeEvents).values(row).onConflictDoNothing()
}

/** When the last event that had an effect came, in epoch milliseconds; null if none is known. */
export async function findLastEventTime(db: Db): Promise<number | null> {
  const latest = max(stripeEvents.receivedAt)
  return (await db.select({ latest }).from(stripeEvents).get())?.latest ?? null
}

export function removeOldEvents(db: Db, now: number): Statement {
  return db.delete(stripeEvents).where(lte(stripeEvents.receivedAt, now - RETENTION_MS))
}
