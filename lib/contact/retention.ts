import { setImmediate as nextTurn } from 'node:timers/promises'
import { inquiries, spentChallenges } from '../db/contact-tables.ts'
import { and, eq, inArray, lt } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import { DAY_MS } from '../parts/durations.ts'
import { removeOldNotices } from './cap-notices.ts'

const DELIVERED_MS = 30 * DAY_MS
/** Inquiries removed in one step, so that no request waits long. */
const STEP_ROWS = 500
/** Long enough that setting back a clock that was a day ahead makes no used challenge valid again. */
const SPENT_MS = 2 * DAY_MS

/**
 * Removes used challenges that expired two days ago, notices of 30 days ago and, in small steps,
 * inquiries that were delivered 30 days ago. Undelivered inquiries stay until the operator removes them.
 */
export async function removeOldContact(db: Db, now: number): Promise<void> {
  await db
    .delete(spentChallenges)
    .where(lt(spentChallenges.expiresAt, now - SPENT_MS))
    .run()
  const isOld = and(eq(inquiries.state, 'delivered'), lt(inquiries.settledAt, now - DELIVERED_MS))
  const step = db.select({ id: inquiries.id }).from(inquiries).where(isOld).limit(STEP_ROWS)
  const delivered = db.delete(inquiries).where(inArray(inquiries.id, step))
  while ((await delivered.run()).changes > 0) await nextTurn()
  await removeOldNotices(db, now).run()
}
