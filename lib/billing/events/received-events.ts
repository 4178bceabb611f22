import { processorEvents } from '../../db/billing-tables.ts'
import { eq, lte, max } from '../../db/drizzle.ts'
import type { Db } from '../../db/open.ts'
import type { Statement } from '../../db/transaction.ts'
import { DAY_MS } from '../../durations.ts'

/** Stripe tries to deliver an event for three days, and lists it for thirty. */
const RETENTION_MS = 35 * DAY_MS

/** Whether the event has already had its effect. */
export async function hasReceived(db: Db, id: string): Promise<boolean> {
  const { id: column } = processorEvents
  const row = await db.select({ id: column }).from(processorEvents).where(eq(column, id)).get()
  return row !== undefined
}

export function insertEvent(db: Db, row: typeof processorEvents.$inferSelect): Statement {
  return db.insert(processorEvents).values(row).onConflictDoNothing()
}

/** When the last event that had an effect came, in epoch milliseconds; null if none is known. */
export async function findLastEventTime(db: Db): Promise<number | null> {
  const latest = max(processorEvents.receivedAt)
  return (await db.select({ latest }).from(processorEvents).get())?.latest ?? null
}

export function removeOldEvents(db: Db, now: number): Statement {
  return db.delete(processorEvents).where(lte(processorEvents.receivedAt, now - RETENTION_MS))
}
