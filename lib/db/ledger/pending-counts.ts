import { isUsageError } from '../../contract/account/usage-details.ts'
import { DAY_MS } from '../../parts/durations.ts'
import type { Client } from '../connection.ts'
import { type Columns, rowsOf } from './columns.ts'
import type { CapNotice, DueNotice } from './notices.ts'

/** Requests spent of a rate limit, at a time in epoch milliseconds. */
interface SpentAt {
  readonly spent: number
  readonly at: number
}

/** The bucket of one caller. */
export interface CallerBucket extends SpentAt {
  /** Id of the key, or of the user for sessions. */
  readonly id: string
}

/** The requests of one user in a period since the last write, and the bucket of all keys of the user. */
export interface UserUse extends SpentAt {
  readonly userId: string
  readonly periodStart: number
  readonly requests: number
  /** How many of the requests are charged for, as far as this process knows. */
  readonly overage: number
  /** How many were answered in full and may be charged for if all processes together are over the cap. */
  readonly chargeable: number
  readonly cap: number
  /** The most that may be charged for in the period. */
  readonly maxUnits: number
  /** Notices that this process has not given yet. */
  readonly notices: readonly DueNotice[]
}

/**
 * The requests of a key, or of all sessions of a user, that an operation has answered with the same
 * status since the last write.
 */
export interface OperationUse {
  readonly userId: string
  /** Empty for sessions. */
  readonly keyId: string
  readonly day: number
  /** Id of an operation of the contract. */
  readonly operation: string
  readonly status: number
  readonly requests: number
  /** How many look-ups of them count towards the cap: each address of a batch is one. */
  readonly lookUps: number
  /** The last use of the key, of which this may not be the operation, in epoch milliseconds. */
  readonly usedAt: number
}

/** What one transaction writes. */
export interface PendingCounts {
  readonly operations: Columns<OperationUse>
  readonly buckets: Columns<CallerBucket>
  readonly users: Columns<UserUse>
}

const NONE = new Float64Array(0)

export const NOTHING_PENDING: PendingCounts = {
  operations: {
    userId: [],
    keyId: [],
    day: NONE,
    operation: [],
    status: NONE,
    requests: NONE,
    lookUps: NONE,
    usedAt: NONE,
  },
  buckets: { id: [], spent: NONE, at: NONE },
  users: {
    userId: [],
    periodStart: NONE,
    requests: NONE,
    overage: NONE,
    chargeable: NONE,
    cap: NONE,
    maxUnits: NONE,
    spent: NONE,
    at: NONE,
    notices: [],
  },
}

/** The requests of a user in a period that all nodes have counted. */
export interface PeriodTotal {
  readonly userId: string
  readonly periodStart: number
  readonly requests: number
  readonly overage: number
}

/** The key of a user's period in maps. */
export function periodId({ userId, periodStart }: Pick<PeriodTotal, 'userId' | 'periodStart'>) {
  return `${periodStart} ${userId}`
}

export interface Written {
  /** The notices that are new, as no process has given them before. */
  readonly notices: readonly CapNotice[]
  /** The totals of the written users; absent if no other process counts. */
  readonly totals?: readonly PeriodTotal[]
}

/**
 * Writes counts: all or, if it rejects, none. After the signal aborts, it no longer waits for an unreachable database.
 */
export type WriteCounts = (counts: PendingCounts, signal: AbortSignal) => Promise<Written>

/** Returns a function that writes counts in one transaction: all or, if it throws, none. */
export function prepareCounts(client: Client): (counts: PendingCounts) => Written {
  const setBucket = client.prepare(
    `INSERT INTO buckets (caller_id, spent, at) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET spent = excluded.spent, at = excluded.at`,
  )
  const addUser = prepareUsers(client)
  const addOperations = prepareOperations(client)
  const writeAll = client.transaction(({ buckets, users, operations }: PendingCounts) => {
    for (const { id, spent, at } of rowsOf(buckets)) setBucket.run(id, spent, at)
    addOperations(rowsOf(operations))
    return { notices: rowsOf(users).flatMap(addUser) }
  })
  return writeAll.immediate
}

function prepareOperations(client: Client) {
  const addToDay = prepareAdd(
    client,
    `UPDATE usage_by_operation SET requests = requests + ?, look_ups = look_ups + ?,
       used_at = max(used_at, ?)
     WHERE day = ? AND user_id = ? AND key_id = ? AND operation = ? AND status = ?`,
    `INSERT INTO usage_by_operation
       (requests, look_ups, used_at, day, user_id, key_id, operation, status)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const addToMonths = prepareMonths(client)
  const addToAll = client.prepare(
    `INSERT INTO usage_of_all (day, operation, status, requests) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET requests = requests + excluded.requests`,
  )
  return (counts: readonly OperationUse[]) => {
    for (const { day, userId, keyId, operation, status, ...use } of counts) {
      const { requests, lookUps, usedAt } = use
      addToDay(requests, lookUps, usedAt, day, userId, keyId, operation, status)
    }
    addToMonths(counts)
    for (const { day, operation, status, requests } of addUp(counts)) {
      addToAll.run(day, operation, status, requests)
    }
  }
}

/**
 * Returns a function that adds counts to months that have the other counts of their days already, and the last uses
 * to the keys.
 */
function prepareMonths(client: Client) {
  const readSummed = client.prepare<[], SummedUsage>(
    'SELECT day, user_id AS userId FROM summed_usage',
  )
  const add = client.prepare(
    `INSERT INTO usage_by_month (requests, errors, limited, month, user_id, key_id)
     VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET requests = requests + excluded.requests,
       errors = errors + excluded.errors, limited = limited + excluded.limited`,
  )
  const setLastUse = client.prepare<[number, string, number]>(
    'UPDATE api_keys SET last_used_at = ? WHERE id = ? AND coalesce(last_used_at, 0) < ?',
  )
  return (counts: readonly OperationUse[]) => {
    const summed = readSummed.get() ?? NOTHING_SUMMED
    for (const use of counts.filter((one) => isSummed(one, summed))) {
      const { day, userId, keyId, status, requests, usedAt } = use
      const errors = isUsageError(status) ? requests : 0
      const limited = status === 429 ? requests : 0
      add.run(requests, errors, limited, firstDayOfMonth(day), userId, keyId)
      setLastUse.run(usedAt, keyId, usedAt)
    }
  }
}

/**
 * Returns a function that updates a row, and inserts it only if it is missing: an insertion is slower,
 * because it runs the trigger that looks for the user. Both statements have the same parameters.
 */
function prepareAdd(client: Client, update: string, insert: string) {
  const [add, addRow] = [client.prepare(update), client.prepare(insert)]
  return (...values: readonly (string | number)[]) => {
    if (add.run(...values).changes === 0) addRow.run(...values)
  }
}

/** The last day and user, in this order, whose counts are added to their month already. */
export interface SummedUsage {
  readonly day: number
  readonly userId: string
}

const NOTHING_SUMMED: SummedUsage = { day: 0, userId: '' }

/** Whether the counts of the day and user are also in their month: see lib/usage/past-days.ts. */
export function isSummed({ day, userId }: SummedUsage, last: SummedUsage): boolean {
  if (day !== last.day) return day < last.day
  // Both databases compare the bytes of texts.
  return Buffer.compare(Buffer.from(userId), Buffer.from(last.userId)) <= 0
}

/** The first day of the month of a day. */
export function firstDayOfMonth(day: number): number {
  return new Date(day * DAY_MS).setUTCDate(1) / DAY_MS
}

/** Adds up the requests of all callers by day, operation and status, which leaves far fewer rows to write. */
function addUp(counts: readonly OperationUse[]) {
  const sums = new Map<
    string,
    Pick<OperationUse, 'day' | 'operation' | 'status'> & { requests: number }
  >()
  for (const { day, operation, status, requests } of counts) {
    const id = `${day} ${operation} ${status}`
    const sum = sums.get(id)
    if (sum === undefined) sums.set(id, { day, operation, status, requests })
    else sum.requests += requests
  }
  return sums.values()
}

/**
 * Returns a function that adds the use of a user, and returns the notices that are new. No other process counts, so
 * what this one charges is exact.
 */
function prepareUsers(client: Client) {
  const addPeriod = client.prepare(
    `INSERT INTO usage_by_period (user_id, period_start, requests, overage, spent, spent_at)
     VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET requests = requests + excluded.requests,
       overage = overage + excluded.overage, spent = excluded.spent, spent_at = excluded.spent_at`,
  )
  const setWarned = client.prepare(
    `UPDATE usage_by_period SET warned = @warned, warned_cap = @cap
     WHERE user_id = @userId AND period_start = @periodStart
       AND (warned < @warned OR warned_cap <> @cap)`,
  )
  const setWarnedUnits = client.prepare(
    `UPDATE usage_by_period SET warned_units = @maxUnits
     WHERE user_id = @userId AND period_start = @periodStart AND warned_units < @maxUnits`,
  )
  const isNew = (notice: CapNotice, periodStart: number) => {
    const { userId } = notice
    const { changes } =
      notice.threshold === 'reach_spending_cap'
        ? setWarnedUnits.run({ userId, periodStart, maxUnits: notice.spending.maxUnits })
        : setWarned.run({
            userId,
            periodStart,
            warned: notice.percent,
            cap: notice.cap,
          })
    return changes > 0
  }
  return ({ userId, periodStart, requests, overage, spent, at, notices }: UserUse): CapNotice[] => {
    addPeriod.run(userId, periodStart, requests, overage, spent, at)
    return notices
      .filter((notice) => isNew(notice, periodStart))
      .map(({ records, ...notice }) => {
        for (const { sql, params } of records) client.prepare(sql).run(...params)
        return notice
      })
  }
}
