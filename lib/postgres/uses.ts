import { setTimeout as sleep } from 'node:timers/promises'
import { isUsageError } from '../contract/account/usage-details.ts'
import {
  type CapNotice,
  type KeyUse,
  monthOf,
  type PeriodTotal,
  SHARES,
  type UserUse,
  type Uses,
  type WriteUses,
  type Written,
} from '../db/uses.ts'
import { keepKnownUsers } from './citus/known-users.ts'
import type { Layout } from './citus/layout.ts'
import { type PgConnection, type PgPool, SOON_MS } from './connection.ts'
import { isConflict } from './faults.ts'
import { inTransaction } from './transaction.ts'
import { translate } from './translate.ts'

const PAUSE_MS = 100
const ATTEMPTS = 20

interface UsesOptions {
  readonly pool: PgPool
  /** The id of this node. */
  readonly node: string
  /** By default, one server has all tables. */
  readonly layout?: Layout
  /** Aborts once the server stops: what could not be written by then is lost. */
  readonly signal: AbortSignal
}

/**
 * Writes uses in one transaction, and its number with them. If the answer to the commit is lost, the stored
 * number shows whether it was committed. So nothing is lost or counted twice.
 */
export function createPgUses({ pool, node, signal, layout = 'local' }: UsesOptions): WriteUses {
  let number = 0
  const isWritten = (): Promise<boolean> =>
    pool.use(async (connection) => {
      // Waits for the transaction if it is still under way, since it has locked the row.
      const sql = 'SELECT written FROM nodes WHERE id = $1 FOR UPDATE'
      const { rows } = await connection.query(sql, [node])
      return Number(rows[0]?.[0]) >= number
    }, SOON_MS)
  /** Asks until the database answers. */
  const settle = async (): Promise<boolean> => {
    for (;;) {
      try {
        return await isWritten()
      } catch {
        await sleep(PAUSE_MS, undefined, { signal })
      }
    }
  }
  const attempt = async (uses: Uses): Promise<Written | null> => {
    let mayBeCommitted = false
    try {
      const work = async (connection: PgConnection) => {
        const written = await writeAll(connection, { node, number, layout, uses })
        mayBeCommitted = true
        return written
      }
      return await inTransaction(pool, work, SOON_MS)
    } catch (error) {
      if (mayBeCommitted && (await settle())) return { notices: [] }
      if (isConflict(error)) return null
      throw error
    }
  }
  return async (uses) => {
    number += 1
    for (let left = ATTEMPTS; left > 0; left--) {
      const written = await attempt(uses)
      if (written !== null) return written
    }
    throw new Error('other transactions kept getting in the way of the counts')
  }
}

interface Group {
  readonly node: string
  readonly number: number
  readonly layout: Layout
  readonly uses: Uses
}

async function writeAll(connection: PgConnection, group: Group): Promise<Written> {
  const { node, number, layout } = group
  const sql = 'UPDATE nodes SET written = $2, seen_at = now_ms() WHERE id = $1'
  const { changes } = await connection.query(sql, [node, number])
  if (changes === 0) throw new Error('this node is unknown to the database')
  const uses = layout === 'local' ? group.uses : await keepKnownUsers(connection, group.uses)
  for (const { text, columns } of STATEMENTS) {
    const values = columns(uses, group.uses)
    if ((values[0]?.length ?? 0) > 0) await connection.query(text, values)
  }
  const totals = await addPeriods(connection, uses.users)
  await setLastUses(connection, uses.keys)
  const notices = await addNotices(connection, uses.users)
  return { notices, totals }
}

type Column = readonly (string | number)[]

interface GroupStatement {
  readonly text: string
  /** The values of each parameter. `ofAll` may contain uses of users who were deleted meanwhile. */
  readonly columns: (uses: Uses, ofAll: Uses) => readonly Column[]
}

interface Sums {
  /** A query of the rows to add. */
  readonly rows: string
  readonly key: readonly string[]
  readonly sums: readonly string[]
}

/**
 * Adds to the rows that exist, and inserts only the others: an insertion costs several times as much,
 * because it runs the trigger that looks for the user. ON CONFLICT is for rows that another node inserts
 * meanwhile, which the statement does not see.
 */
function addTo(table: string, { rows, key, sums }: Sums): string {
  const names = (of: readonly string[], prefix = '') => of.map((name) => prefix + name).join(', ')
  const isSame = (other: string) =>
    key.map((name) => `${other}.${name} = added.${name}`).join(' AND ')
  const add = (other: string) =>
    sums.map((name) => `${name} = known.${name} + ${other}.${name}`).join(', ')
  return `WITH added AS MATERIALIZED (${rows} ORDER BY ${names(key)}),
    updated AS (
      UPDATE ${table} AS known SET ${add('added')} FROM added WHERE ${isSame('known')}
      RETURNING ${names(key, 'known.')}
    )
    INSERT INTO ${table} AS known (${names([...key, ...sums])})
    SELECT ${names([...key, ...sums])} FROM added
    WHERE NOT EXISTS (SELECT FROM updated WHERE ${isSame('updated')})
    ON CONFLICT (${names(key)}) DO UPDATE SET ${add('excluded')}`
}

/** All nodes write rows in the order of their keys, so that they cannot deadlock. */
const STATEMENTS: readonly GroupStatement[] = [
  {
    text: addTo('usage_by_day', {
      rows: `SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[])
        AS added (user_id, day, key_id, requests)`,
      key: ['user_id', 'day', 'key_id'],
      sums: ['requests'],
    }),
    columns: (uses) => {
      const callers = uses.callers.filter(({ requests }) => requests > 0)
      return [
        callers.map(({ userId }) => userId),
        callers.map(({ day }) => day),
        callers.map(({ keyId }) => keyId),
        callers.map(({ requests }) => requests),
      ]
    },
  },
  {
    text: addTo('usage_by_operation', {
      rows: `SELECT day, user_id, key_id, operation, status, sum(requests)::bigint AS requests
        FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])
          AS added (day, user_id, key_id, operation, status, requests)
        GROUP BY 1, 2, 3, 4, 5`,
      key: ['day', 'user_id', 'key_id', 'operation', 'status'],
      sums: ['requests'],
    }),
    columns: ({ operations }) => [
      operations.map(({ day }) => day),
      operations.map(({ userId }) => userId),
      operations.map(({ keyId }) => keyId),
      operations.map(({ operation }) => operation),
      operations.map(({ status }) => status),
      operations.map(({ requests }) => requests),
    ],
  },
  {
    text: addTo('usage_by_month', {
      rows: `SELECT month, user_id, key_id, sum(requests)::bigint AS requests,
          sum(errors)::bigint AS errors, sum(limited)::bigint AS limited
        FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[])
          AS added (month, user_id, key_id, requests, errors, limited)
        GROUP BY 1, 2, 3`,
      key: ['month', 'user_id', 'key_id'],
      sums: ['requests', 'errors', 'limited'],
    }),
    columns: ({ operations }) => [
      operations.map(({ day }) => monthOf(day)),
      operations.map(({ userId }) => userId),
      operations.map(({ keyId }) => keyId),
      operations.map(({ requests }) => requests),
      operations.map(({ status, requests }) => (isUsageError(status) ? requests : 0)),
      operations.map(({ status, requests }) => (status === 429 ? requests : 0)),
    ],
  },
  {
    text: `INSERT INTO usage_of_all AS known (day, operation, status, requests)
      SELECT day, operation, status, sum(requests)
      FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[])
        AS added (day, operation, status, requests)
      GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
      ON CONFLICT (day, operation, status) DO UPDATE SET requests = known.requests + excluded.requests`,
    columns: (_, { operations }) => [
      operations.map(({ day }) => day),
      operations.map(({ operation }) => operation),
      operations.map(({ status }) => status),
      operations.map(({ requests }) => requests),
    ],
  },
]

/** Like `addTo`. */
const ADD_PERIODS = `
  WITH added AS MATERIALIZED (
    SELECT * FROM
      unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::float8[], $6::bigint[])
        AS one (user_id, period_start, requests, overage, spent, spent_at)
    ORDER BY user_id, period_start
  ), updated AS (
    UPDATE usage_by_period AS known
    SET requests = known.requests + added.requests, overage = known.overage + added.overage,
      spent = added.spent, spent_at = added.spent_at
    FROM added WHERE known.user_id = added.user_id AND known.period_start = added.period_start
    RETURNING known.user_id, known.period_start, known.requests, known.overage
  ), inserted AS (
    INSERT INTO usage_by_period AS known (user_id, period_start, requests, overage, spent, spent_at)
    SELECT * FROM added WHERE NOT EXISTS (
      SELECT FROM updated
      WHERE updated.user_id = added.user_id AND updated.period_start = added.period_start
    )
    ON CONFLICT (user_id, period_start) DO UPDATE SET requests = known.requests + excluded.requests,
      overage = known.overage + excluded.overage, spent = excluded.spent, spent_at = excluded.spent_at
    RETURNING user_id, period_start, requests, overage
  )
  SELECT * FROM updated UNION ALL SELECT * FROM inserted`

/** Adds the requests of the users. Returns what all nodes have counted. */
async function addPeriods(
  connection: PgConnection,
  users: readonly UserUse[],
): Promise<PeriodTotal[]> {
  if (users.length === 0) return []
  const { rows } = await connection.query(ADD_PERIODS, [
    users.map(({ userId }) => userId),
    users.map(({ periodStart }) => periodStart),
    users.map(({ requests }) => requests),
    users.map(({ overage }) => overage),
    users.map(({ bucket }) => bucket.spent),
    users.map(({ bucket }) => bucket.at),
  ])
  return rows.map(([userId, periodStart, requests, overage]) => ({
    userId: String(userId),
    periodStart: Number(periodStart),
    requests: Number(requests),
    overage: Number(overage),
  }))
}

/**
 * Runs after the counts, which may wait for a user: a deletion locks the user first and then the keys, so in
 * another order the two could deadlock.
 */
async function setLastUses(connection: PgConnection, keys: readonly KeyUse[]): Promise<void> {
  if (keys.length === 0) return
  const sql = `UPDATE api_keys SET last_used_at = used.at
    FROM unnest($1::text[], $2::bigint[]) AS used (id, at)
    WHERE api_keys.id = used.id AND coalesce(last_used_at, 0) < used.at`
  const values = [keys.map(({ keyId }) => keyId), keys.map(({ usedAt }) => usedAt)]
  await connection.query(sql, values)
}

/** Records the notices that no node has given yet, and returns them. They are rare. */
async function addNotices(
  connection: PgConnection,
  users: readonly UserUse[],
): Promise<CapNotice[]> {
  const added: CapNotice[] = []
  for (const { periodStart, notices } of users) {
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
  const values = [userId, periodStart, SHARES[notice.threshold], notice.cap]
  return (await connection.query(sql, values)).changes > 0
}
