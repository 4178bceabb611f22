import { processorEvents } from '../db/billing-tables.ts'
import { eq, lte, max } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import type { Statement } from '../db/unit.ts'

/** An event of the payment processor that has had its effect. */
export type EventRow = typeof processorEvents.$inferSelect

/** The payment processor delivers an event for three days, and lists it for thirty. */
const KEPT_MS = 35 * 24 * 60 * 60 * 1000

export async function hasReceived(db: Db, id: string): Promise<boolean> {
  const { id: column } = processorEvents
  const row = db.select({ id: column }).from(processorEvents).where(eq(column, id)).get()
  return row !== undefined
}

export function insertEvent(db: Db, row: EventRow): Statement {
  return db.insert(processorEvents).values(row).onConflictDoNothing()
}

/** When the last event came that had an effect, in epoch milliseconds; null: none is known. */
export function findLastEventTime(db: Db): number | null {
  const latest = max(processorEvents.receivedAt)
  return db.select({ latest }).from(processorEvents).get()?.latest ?? null
}

export function removeOldEvents(db: Db, now: number): Statement {
  return db.delete(processorEvents).where(lte(processorEvents.receivedAt, now - KEPT_MS))
}
