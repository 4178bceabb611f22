import { DAY_MS } from '../../parts/durations.ts'
import { retry } from '../../parts/repeat.ts'
import { type PgConnection, type PgPool, QUICK_MS } from '../../postgres/connection.ts'
import { isConflict } from '../../postgres/faults.ts'
import { inTransaction } from '../../postgres/transaction.ts'
import { translate } from '../../postgres/translate.ts'
import { type Columns, rowsOf } from './columns.ts'
import type { CapNotice } from './notices.ts'
import {
  isSummed,
  type OperationUse,
  type PendingCounts,
  type PeriodTotal,
  periodId,
  type SummedUsage,
  type UserUse,
  type WriteCounts,
  type Written,
} from './pending-counts.ts'
import { COUNT_STATEMENTS, toValues } from './pg-count-statements.ts'

const ATTEMPTS = 20

interface CountsOptions {
  readonly pool: PgPool
  /** The id of this node. */
  readonly node: string
  readonly onError: (error: unknown, message: string) => void
}

const UNKNOWN_COMMIT =
  'some counts may be lost: PostgreSQL did not answer whether it has written them, and the server stops'

/**
 * Writes counts in one transaction, and its number with them. If the answer to the commit is lost, the stored
 * number shows whether it was committed. So nothing is lost or counted twice. If that number cannot be read, the
 * counts are taken for written, because counts must never be too high.
 */
export function createPgCounts({ pool, node, onError }: CountsOptions): WriteCounts {
  let number = 0
  const readIsWritten = (): Promise<boolean> =>
    pool.use(async (connection) => {
      // Waits for the transaction if it is still under way, since it has locked the row.
      const sql = 'SELECT written FROM nodes WHERE id = $1 FOR UPDATE'
      const [row] = (await connection.query(sql, [node])).rows
      // The row is gone if this process was paused for a day.
      return row === undefined || Number(row[0]) >= number
    }, QUICK_MS)
  const isWritten = async (signal: AbortSignal): Promise<boolean> => {
    try {
      return await retry(readIsWritten, signal)
    } catch (error) {
      onError(error, UNKNOWN_COMMIT)
      return true
    }
  }
  const attempt = async (counts: PendingCounts, signal: AbortSignal): Promise<Written | null> => {
    let mayBeCommitted = false
    try {
      const work = async (connection: PgConnection) => {
        const written = await writeAll(connection, { node, number, counts })
        mayBeCommitted = true
        return written
      }
      return await inTransaction(pool, work, QUICK_MS)
    } catch (error) {
      if (mayBeCommitted && (await isWritten(signal))) return { notices: [] }
      if (isConflict(error)) return null
      throw error
    }
  }
  return async (counts, signal) => {
    number += 1
    for (let left = ATTEMPTS; left > 0; left--) {
      const written = await attempt(counts, signal)
      if (written !== null) return written
    }
    throw new Error('other transactions kept getting in the way of the counts')
  }
}

/** What one transaction writes. */
interface NumberedCounts {
  readonly node: string
  readonly number: number
  readonly counts: PendingCounts
}

async function writeAll(
  connection: PgConnection,
  { node, number, counts }: NumberedCounts,
): Promise<Written> {
  const summed = await readSummed(connection, counts)
  const past = rowsOf(counts.operations).filter((use) => isSummed(use, summed))
  for (const { text, columns } of COUNT_STATEMENTS) {
    const values = columns({ operations: counts.operations, past })
    if ((values[0]?.length ?? 0) > 0) await connection.query(text, values)
  }
  const totals = await addPeriods(connection, counts.users)
  await setLastUses(connection, past)
  const notices = await addNotices(connection, counts.users)
  // Last, because acknowledgements of changed keys write the same row, and would wait for the commit.
  const sql = 'UPDATE nodes SET written = $2, seen_at = now_ms() WHERE id = $1'
  const { changes } = await connection.query(sql, [node, number])
  if (changes === 0) throw new Error('this node is unknown to the database')
  return { notices, totals }
}

/**
 * Returns the last counts that their months have. If some are of days that are over, keeps `sumPastDays` waiting
 * until the transaction ends. It leaves alone a day that ended less than an hour ago.
 */
async function readSummed(
  connection: PgConnection,
  { operations }: PendingCounts,
): Promise<SummedUsage> {
  const { today, ...summed } = await readMark(connection)
  if (operations.day.every((day) => day >= today)) return summed
  await connection.query('LOCK TABLE summed_usage IN SHARE MODE')
  return readMark(connection)
}

async function readMark(connection: PgConnection): Promise<SummedUsage & { today: number }> {
  const { rows } = await connection.query(
    `SELECT coalesce(max(day), 0), coalesce(max(user_id), ''), now_ms() / ${DAY_MS} FROM summed_usage`,
  )
  const [day, userId, today] = rows[0] ?? []
  return { day: Number(day), userId: String(userId), today: Number(today) }
}

const ADD_PERIODS = `
  INSERT INTO usage_by_period AS known (user_id, period_start, requests, spent, spent_at)
  SELECT * FROM
    unnest($1::text[], $2::bigint[], $3::bigint[], $4::float8[], $5::bigint[])
      AS added (user_id, period_start, requests, spent, spent_at)
  ORDER BY user_id, period_start
  ON CONFLICT (user_id, period_start) DO UPDATE SET requests = known.requests + excluded.requests,
    spent = excluded.spent, spent_at = excluded.spent_at
  RETURNING user_id, period_start, requests, overage`

/**
 * Charges for requests, once those of all nodes are counted and the rows are locked: for what is over the cap, even
 * if no node knew it, and never for more than the user pays for. The rest remains free.
 */
const CHARGE = `
  UPDATE usage_by_period AS known SET overage = known.overage + greatest(0, least(
    greatest(added.overage, known.requests - added.requests + added.chargeable - added.cap),
    added.chargeable, added.max_units - known.overage))
  FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
      $7::bigint[]) AS added (user_id, period_start, requests, overage, chargeable, cap, max_units)
  WHERE known.user_id = added.user_id AND known.period_start = added.period_start
  RETURNING known.user_id, known.period_start, known.requests, known.overage`

/** Adds the requests of the users. Returns what all nodes have counted. */
async function addPeriods(
  connection: PgConnection,
  users: Columns<UserUse>,
): Promise<PeriodTotal[]> {
  if (users.userId.length === 0) return []
  const { userId, periodStart, requests, spent, at } = users
  const columns = [userId, periodStart, requests, spent, at]
  const { rows } = await connection.query(ADD_PERIODS, columns.map(toValues))
  const added = rows.map(toTotal)
  const charged = await chargePeriods(connection, users, added)
  return [...added, ...charged]
}

/** Charges users who are over their cap. Returns the new totals of these. */
async function chargePeriods(
  connection: PgConnection,
  users: Columns<UserUse>,
  totals: readonly PeriodTotal[],
): Promise<PeriodTotal[]> {
  const requests = new Map(totals.map((total) => [periodId(total), total.requests]))
  const over = rowsOf(users).filter(
    (use) =>
      use.overage > 0 || (use.chargeable > 0 && (requests.get(periodId(use)) ?? 0) > use.cap),
  )
  if (over.length === 0) return []
  const { rows } = await connection.query(CHARGE, [
    over.map(({ userId }) => userId),
    over.map(({ periodStart }) => periodStart),
    over.map((use) => use.requests),
    over.map(({ overage }) => overage),
    over.map(({ chargeable }) => chargeable),
    over.map(({ cap }) => cap),
    // The driver writes no infinite numbers.
    over.map(({ maxUnits }) => Math.min(maxUnits, Number.MAX_SAFE_INTEGER)),
  ])
  return rows.map(toTotal)
}

function toTotal([userId, periodStart, requests, overage]: readonly unknown[]): PeriodTotal {
  return {
    userId: String(userId),
    periodStart: Number(periodStart),
    requests: Number(requests),
    overage: Number(overage),
  }
}

/**
 * Writes the last uses on days that are added to their months already: see `sumPastDays`. Runs after the counts,
 * which may wait for a user: a deletion locks the user first and then the keys, so in another order the two could
 * deadlock.
 */
async function setLastUses(connection: PgConnection, past: readonly OperationUse[]): Promise<void> {
  if (past.length === 0) return
  const sql = `UPDATE api_keys SET last_used_at = used.at
    FROM (
      SELECT id, max(at) AS at FROM unnest($1::text[], $2::bigint[]) AS use (id, at) GROUP BY id
    ) AS used
    WHERE api_keys.id = used.id AND coalesce(last_used_at, 0) < used.at`
  await connection.query(sql, [past.map(({ keyId }) => keyId), past.map(({ usedAt }) => usedAt)])
}

/** Records the notices that no node has given yet, and returns them. They are rare. */
async function addNotices(connection: PgConnection, users: Columns<UserUse>): Promise<CapNotice[]> {
  const added: CapNotice[] = []
  for (const { periodStart, notices } of rowsOf(users)) {
    for (const due of notices) {
      if (!(await isNew(connection, due, periodStart))) continue
      const { records, ...notice } = due
      added.push(notice)
      for (const { sql, params } of records) await connection.query(translate(sql).text, params)
    }
  }
  return added
}

async function isNew(
  connection: PgConnection,
  notice: CapNotice,
  periodStart: number,
): Promise<boolean> {
  const { userId } = notice
  if (notice.threshold === 'reach_spending_cap') {
    const sql = `UPDATE usage_by_period SET warned_units = $3
      WHERE user_id = $1 AND period_start = $2 AND warned_units < $3`
    const { maxUnits } = notice.spending
    return (await connection.query(sql, [userId, periodStart, maxUnits])).changes > 0
  }
  const sql = `UPDATE usage_by_period SET warned = $3, warned_cap = $4
    WHERE user_id = $1 AND period_start = $2 AND (warned < $3 OR warned_cap <> $4)`
  const values = [userId, periodStart, notice.percent, notice.cap]
  return (await connection.query(sql, values)).changes > 0
}
