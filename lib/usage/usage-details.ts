import { dateOfDay, dayOf } from '../config/period.ts'
import {
  SESSION,
  USAGE_COLUMNS,
  USAGE_KEPT_DAYS,
  type UsageColumn,
  type UsageDetails,
  type UsageDetailsQuery,
  type UsageRow,
} from '../contract/account/usage-details.ts'
import { and, asc, eq, gte, lte, sql } from '../db/drizzle.ts'
import type { Queries } from '../db/queries.ts'
import { fieldError } from '../parts/errors.ts'
import { usageByOperation } from './tables.ts'

const DEFAULT_DAYS = 30

/** The requests that a user asks for. Days are counted from 1970-01-01, UTC; both are included. */
export interface WantedUsage {
  readonly userId: string
  readonly from: number
  readonly to: number
  readonly key?: string | undefined
  readonly operation?: string | undefined
  readonly by: readonly UsageColumn[]
}

/** Throws BAD_REQUEST if a day does not exist, or if the period is reversed or too long. */
export function toWantedUsage(ofUser: string, query: UsageDetailsQuery, now: number): WantedUsage {
  const to = query.to === undefined ? dayOf(now) : readDay('to', query.to)
  const from = query.from === undefined ? to - DEFAULT_DAYS + 1 : readDay('from', query.from)
  if (from > to) throw fieldError('from', 'must not be after to')
  if (to - from >= USAGE_KEPT_DAYS) {
    const problem = `a period has at most ${USAGE_KEPT_DAYS} days, because counts are kept that long`
    throw fieldError('from', problem)
  }
  const names = query.by.split(',')
  const by = USAGE_COLUMNS.filter((name) => names.includes(name))
  return { userId: ofUser, from, to, key: query.key, operation: query.operation, by }
}

function readDay(name: string, text: string): number {
  const day = dayOf(Date.parse(text))
  // JavaScript reads 2026-02-31 as a day in March.
  if (Number.isNaN(day) || dateOfDay(day) !== text) {
    throw fieldError(name, `there is no day "${text}"`)
  }
  return day
}

/** Reads the counts on disk, which lack the requests of about the last second. */
export async function readUsageDetails(db: Queries, wanted: WantedUsage): Promise<UsageDetails> {
  const rows = (await selectUsage(db, wanted).all()).map(toUsageRow)
  return {
    from: dateOfDay(wanted.from),
    to: dateOfDay(wanted.to),
    requests: rows.reduce((sum, { requests }) => sum + requests, 0),
    rows,
  }
}

const { userId, day, keyId, operation, status, requests } = usageByOperation
const STORED = { day, key: keyId, operation, status } as const

export function selectUsage(db: Queries, wanted: WantedUsage) {
  const columns = wanted.by.map((name) => STORED[name])
  const named: Partial<typeof STORED> = Object.fromEntries(
    wanted.by.map((name) => [name, STORED[name]]),
  )
  return db
    .select({ ...named, requests: sql<number>`sum(${requests})` })
    .from(usageByOperation)
    .where(
      and(
        eq(userId, wanted.userId),
        gte(day, wanted.from),
        lte(day, wanted.to),
        wanted.key === undefined ? undefined : eq(keyId, wanted.key === SESSION ? '' : wanted.key),
        wanted.operation === undefined ? undefined : eq(operation, wanted.operation),
      ),
    )
    .groupBy(...columns)
    .orderBy(...columns.map((column) => asc(column)))
}

type StoredRow = Awaited<ReturnType<ReturnType<typeof selectUsage>['all']>>[number]

function toUsageRow({ day: number, key, ...row }: StoredRow): UsageRow {
  return {
    ...(number !== undefined && { day: dateOfDay(number) }),
    ...(key !== undefined && { key: key === '' ? SESSION : key }),
    ...row,
  }
}

/** As CSV with a line of names. No value needs quotes: all are dates, ids or numbers. */
export function usageCsv(by: readonly UsageColumn[], rows: readonly UsageRow[]): string {
  const names = [...by, 'requests'] as const
  const lines = rows.map((row) => names.map((name) => row[name] ?? ''))
  return [names, ...lines].map((line) => `${line.join(',')}\r\n`).join('')
}
