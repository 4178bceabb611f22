import type { Db } from '../db/open.ts'
import { transact } from '../db/unit.ts'
import { removeDelivered } from './inquiry-store.ts'
import { removeSpent } from './spent-challenges.ts'

const HOUR_MS = 60 * 60 * 1000
const DELIVERED_MS = 30 * 24 * HOUR_MS
/** A clock that was a day ahead may be set back: what is forgotten then would be good again. */
const SPENT_MS = 48 * HOUR_MS

/**
 * Removes inquiries that were delivered 30 days ago, in small steps, and used challenges that have
 * ended. Inquiries that nobody has got stay until the operator removes them.
 */
export async function removeOldContact(db: Db, now: number): Promise<void> {
  await transact(db, () => removeSpent(db, now - SPENT_MS))
  while ((await transact(db, () => removeDelivered(db, now - DELIVERED_MS))) > 0) {
    await new Promise((resolve) => setImmediate(resolve))
  }
}
