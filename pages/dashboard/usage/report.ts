import {
  isUsageError,
  type UsageColumn,
  type UsageRow,
} from '../../../lib/contract/account/usage-details.ts'

/** How a request ended, in plain words, with its colour in charts. */
const OUTCOMES = {
  answered: { name: 'Answered', color: '--data' },
  notFound: { name: 'Not found', color: '--line-strong' },
  limited: { name: 'Over a limit', color: '--near' },
  refused: { name: 'Refused', color: '--error' },
  failed: { name: 'Failed', color: '--ink' },
} as const

/** A part of the requests of each day, with its colour in charts. */
export interface UsagePart {
  readonly name: string
  readonly color: `--${string}`
}

/** Requests by day, split in parts. */
export interface DailyUsage {
  readonly parts: readonly UsagePart[]
  /** Oldest first, days without requests included; `requests` of each part. */
  readonly days: readonly { readonly date: string; readonly requests: readonly number[] }[]
}

/** Requests of an endpoint or a key. */
export interface UsageTotal {
  readonly id: string
  readonly requests: number
  readonly errors: number
  readonly limited: number
}

/** Endpoints with a colour of their own. The rest is one part. */
const LARGEST_COLORS = ['--data', '--purple', '--near', '--accent'] as const
const OTHERS: UsagePart = { name: 'Others', color: '--line-strong' }

/** Splits rows by day and status. */
export function dailyByOutcome(rows: readonly UsageRow[], dates: readonly string[]): DailyUsage {
  const nameOf = ({ status = 0 }: UsageRow) => OUTCOMES[outcomeOf(status)].name
  const used = new Set(rows.map(nameOf))
  const parts = Object.values(OUTCOMES).filter(({ name }) => used.has(name))
  return toDaily(rows, dates, parts, nameOf)
}

/** Splits rows by day and operation; `nameOf` names the endpoint of an operation. */
export function dailyByEndpoint(
  rows: readonly UsageRow[],
  dates: readonly string[],
  nameOf: (operation: string) => string,
): DailyUsage {
  const totals = totalsBy('operation', rows)
  const largest = totals.slice(0, LARGEST_COLORS.length).map(({ id }, at) => ({
    name: nameOf(id),
    color: LARGEST_COLORS[at] ?? OTHERS.color,
  }))
  const parts = totals.length > largest.length ? [...largest, OTHERS] : largest
  const names = new Set(largest.map(({ name }) => name))
  return toDaily(rows, dates, parts, ({ operation = '' }) => {
    const name = nameOf(operation)
    return names.has(name) ? name : OTHERS.name
  })
}

function toDaily(
  rows: readonly UsageRow[],
  dates: readonly string[],
  parts: readonly UsagePart[],
  partOf: (row: UsageRow) => string,
): DailyUsage {
  const byDate = Map.groupBy(rows, ({ day }) => day)
  const days = dates.map((date) => {
    const ofDay = byDate.get(date) ?? []
    const requests = parts.map(({ name }) => sumOf(ofDay.filter((row) => partOf(row) === name)))
    return { date, requests }
  })
  return { parts, days }
}

/** Adds up rows with a status by another column, largest first. */
export function totalsBy(column: UsageColumn, rows: readonly UsageRow[]): UsageTotal[] {
  return [...Map.groupBy(rows, (row) => String(row[column] ?? ''))]
    .map(([id, own]) => ({ id, ...totalOf(own) }))
    .toSorted((one, other) => other.requests - one.requests)
}

export function totalOf(rows: readonly UsageRow[]): Omit<UsageTotal, 'id'> {
  return {
    requests: sumOf(rows),
    errors: sumOf(rows.filter(({ status = 0 }) => isUsageError(status))),
    limited: sumOf(rows.filter(({ status }) => status === 429)),
  }
}

function sumOf(rows: readonly UsageRow[]): number {
  return rows.reduce((sum, { requests }) => sum + requests, 0)
}

type Outcome = keyof typeof OUTCOMES

function outcomeOf(status: number): Outcome {
  if (status < 400) return 'answered'
  if (status >= 500) return 'failed'
  if (status === 404) return 'notFound'
  return status === 429 ? 'limited' : 'refused'
}
