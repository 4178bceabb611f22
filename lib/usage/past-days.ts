import { setImmediate as nextTurn } from 'node:timers/promises'
import { dayOf } from '../config/period.ts'
import { firstDayOfMonth } from '../db/ledger/pending-counts.ts'
import type { Db } from '../db/open.ts'
import type { Queries } from '../db/queries.ts'
import { transact } from '../db/transaction.ts'
import { HOUR_MS } from '../parts/durations.ts'

/** Small, so that no other write waits for long. */
const STEP_USERS = 500
/** By then, all servers have written their counts of the day, unless they had lost the database. */
const AFTER_MS = HOUR_MS

/** Adds the counts of days that are over to their months, and the last uses to the keys, a few users at a time. */
export async function sumPastDays(db: Db, now: number): Promise<void> {
  while (await sumNextUsers(db, dayOf(now - AFTER_MS))) await nextTurn()
}

/** Returns whether there may be more. */
function sumNextUsers(db: Db, before: number): Promise<boolean> {
  return transact(db, async ({ execute }) => {
    // Locks the table, so that nodes which write counts of such days wait.
    await execute({ sql: 'UPDATE summed_usage SET id = id', params: [] })
    const { rows } = await execute({ sql: NEXT_USERS, params: [before, STEP_USERS] })
    const [day, first, last] = rows[0] ?? []
    if (typeof day !== 'number') return false
    await execute({ sql: ADD, params: [firstDayOfMonth(day), day, first, last] })
    await execute({ sql: SET_LAST_USES, params: [day, first, last] })
    await execute({ sql: ADVANCE, params: [day, last] })
    return true
  })
}

/** The first day with counts that its month lacks, and the first and last of its next users. */
const NEXT_USERS = `SELECT day, min(user_id), max(user_id) FROM (
    SELECT day, user_id FROM usage_by_operation
    WHERE day < ? AND (day, user_id) > (
      SELECT coalesce(max(day), 0), coalesce(max(user_id), '') FROM summed_usage
    )
    GROUP BY day, user_id ORDER BY day, user_id LIMIT ?
  ) AS next GROUP BY day ORDER BY day LIMIT 1`
const ADD = `INSERT INTO usage_by_month (month, user_id, key_id, requests, errors, limited)
  SELECT CAST(? AS BIGINT), user_id, key_id, sum(requests),
    sum(CASE WHEN status >= 400 AND status <> 404 THEN requests ELSE 0 END),
    sum(CASE WHEN status = 429 THEN requests ELSE 0 END)
  FROM usage_by_operation WHERE day = ? AND user_id >= ? AND user_id <= ?
  GROUP BY user_id, key_id ORDER BY user_id, key_id
  ON CONFLICT (month, user_id, key_id) DO UPDATE SET requests = usage_by_month.requests + excluded.requests,
    errors = usage_by_month.errors + excluded.errors, limited = usage_by_month.limited + excluded.limited`
const SET_LAST_USES = `UPDATE api_keys SET last_used_at = used.at
  FROM (
    SELECT key_id, max(used_at) AS at
    FROM usage_by_operation WHERE day = ? AND user_id >= ? AND user_id <= ? GROUP BY key_id
  ) AS used
  WHERE api_keys.id = used.key_id AND coalesce(last_used_at, 0) < used.at`
const ADVANCE = `INSERT INTO summed_usage (id, day, user_id) VALUES (1, ?, ?)
  ON CONFLICT (id) DO UPDATE SET day = excluded.day, user_id = excluded.user_id`

/** Reads when each key of the user was last used on days that are not all added to their months, by its id. */
export async function readUsesAfterSums(
  { execute }: Pick<Queries, 'execute'>,
  userId: string,
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await execute({ sql: USES_AFTER_SUMS, params: [userId] })
  return new Map(rows.map(([keyId, usedAt]) => [String(keyId), Number(usedAt)]))
}

const USES_AFTER_SUMS = `SELECT key_id, max(used_at) FROM usage_by_operation
  WHERE user_id = ? AND day >= (SELECT coalesce(max(day), 0) FROM summed_usage)
  GROUP BY key_id`
