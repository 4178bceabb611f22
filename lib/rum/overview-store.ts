import type { Db } from '../db/open.ts'
import { HOURS_OF_DAY } from './hour.ts'
import type { PageError } from './page-error.ts'
import { type Row, toRow } from './row.ts'
import type { Stored } from './store.ts'
import { ROW_CONDITION, type RowFilter, type RowParams, rowParams } from './summary.ts'

export interface SpanRow extends Row {
  /** The hour, or the first one of the day. */
  readonly hour: number
  /** Empty: unknown. */
  readonly country: string
  readonly device: string
}

export interface ErrorTotal {
  readonly count: number
  readonly firstAt: number
  readonly lastAt: number
  readonly sample: PageError & { readonly path?: string }
}

export interface CountTotal {
  readonly kind: string
  readonly label: string
  readonly count: number
  readonly lastHour: number
}

/** What an overview is made from. Spans are hours or days, from the one to the other, in order. */
export interface OverviewStore {
  /** In pages, so that others may run between them. */
  hours(filter: RowFilter): Generator<SpanRow[]>
  days(filter: RowFilter): Generator<SpanRow[]>
  topPaths(filter: RowFilter, limit: number): string[]
  pathRows(filter: RowFilter, path: string): Row[]
  topErrors(filter: RowFilter, limit: number): ErrorTotal[]
  counts(filter: RowFilter): CountTotal[]
}

const PAGE_ROWS = 250

export function createOverviewStore(db: Db): OverviewStore {
  return {
    hours: createReadSpans(db, 'rum_sketches', { column: 'hour', hours: 1 }),
    days: createReadSpans(db, 'rum_days', { column: 'day', hours: HOURS_OF_DAY }),
    ...pathStatements(db),
    ...countStatements(db),
  }
}

interface StoredSpan extends Stored {
  readonly span: number
  readonly country: string
  readonly device: string
}

type After = Omit<StoredSpan, keyof Stored>

interface Span {
  readonly column: 'hour' | 'day'
  readonly hours: number
}

function createReadSpans({ $client }: Db, table: string, { column, hours }: Span) {
  const read = $client.prepare<[RowParams & Prefixed<After>], StoredSpan>(
    `SELECT ${column} AS span, country, device, samples, sketches FROM ${table}
     WHERE ${ROW_CONDITION.replaceAll('hour', column)}
       AND (${column}, country, device) > ($afterSpan, $afterCountry, $afterDevice)
     ORDER BY ${column}, country, device LIMIT ${PAGE_ROWS}`,
  )
  return function* (filter: RowFilter): Generator<SpanRow[]> {
    let after: After = { span: filter.period.from - 1, country: '', device: '' }
    for (;;) {
      const { span: afterSpan, country: afterCountry, device: afterDevice } = after
      const page = read.all({ ...rowParams(filter), afterSpan, afterCountry, afterDevice })
      const last = page.at(-1)
      if (last === undefined) return
      yield page.map(({ span, country, device, ...stored }) => ({
        hour: span * hours,
        country,
        device,
        ...toRow(stored),
      }))
      after = last
    }
  }
}

type Prefixed<Fields> = {
  readonly [Name in keyof Fields & string as `after${Capitalize<Name>}`]: Fields[Name]
}

type Between = [string, number, number]

function pathStatements({ $client }: Db) {
  const top = $client
    .prepare<[...Between, number], string>(
      `SELECT path FROM rum_paths WHERE site_id = ? AND day BETWEEN ? AND ?
       GROUP BY path ORDER BY sum(samples) DESC, path LIMIT ?`,
    )
    .pluck()
  const rows = $client.prepare<[...Between, string], Stored>(
    `SELECT samples, sketches FROM rum_paths
     WHERE site_id = ? AND day BETWEEN ? AND ? AND path = ?`,
  )
  return {
    topPaths: ({ siteId, period: { from, to } }: RowFilter, limit: number) =>
      top.all(siteId, from, to, limit),
    pathRows: ({ siteId, period: { from, to } }: RowFilter, path: string) =>
      rows.all(siteId, from, to, path).map(toRow),
  }
}

interface StoredError extends Omit<ErrorTotal, 'sample'> {
  readonly sample: string
}

function countStatements({ $client }: Db) {
  // With min() the other columns are those of the same row.
  const errors = $client.prepare<[...Between, number], StoredError>(
    `SELECT sum(count) AS count, min(first_at) AS firstAt, max_last AS lastAt, sample FROM (
       SELECT hash, count, first_at, sample, max(last_at) OVER (PARTITION BY hash) AS max_last
       FROM rum_errors WHERE site_id = ? AND hour BETWEEN ? AND ?
     ) GROUP BY hash ORDER BY 1 DESC, hash LIMIT ?`,
  )
  const counts = $client.prepare<Between, CountTotal>(
    `SELECT kind, label, sum(count) AS count, max(hour) AS lastHour FROM rum_counts
     WHERE site_id = ? AND hour BETWEEN ? AND ? GROUP BY kind, label ORDER BY 3 DESC, label`,
  )
  return {
    topErrors: ({ siteId, period: { from, to } }: RowFilter, limit: number) =>
      errors
        .all(siteId, from, to, limit)
        .map(({ sample, ...total }) => ({ ...total, sample: JSON.parse(sample) })),
    counts: ({ siteId, period: { from, to } }: RowFilter) => counts.all(siteId, from, to),
  }
}
