import { setImmediate as nextTurn } from 'node:timers/promises'
import { dayOf } from '../config/period.ts'
import { USAGE_KEPT_DAYS } from '../contract/account/usage-details.ts'
import type { Queries } from '../db/queries.ts'

/** Small, so that no other write waits for long. */
const STEP_ROWS = 500
const KEY = 'day, user_id, key_id, operation, status'

/** Removes counts of days that are older than `USAGE_KEPT_DAYS`, in small steps. */
export async function removeOldUsage(db: Queries, now: number): Promise<void> {
  const sql = `DELETE FROM usage_by_operation WHERE (${KEY}) IN (
    SELECT ${KEY} FROM usage_by_operation WHERE day <= ? LIMIT ${STEP_ROWS})`
  const params = [dayOf(now) - USAGE_KEPT_DAYS]
  while ((await db.execute({ sql, params })).changes === STEP_ROWS) await nextTurn()
}
