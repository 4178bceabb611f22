import { HOURS_OF_DAY, type TelemetryPeriod } from '../hour.ts'
import type { CauseCount, CountTotal, ErrorSample, ErrorTotal, SampleKey } from '../store/counts.ts'
import type { PathFilter, RowFilter, SpanRow, SummaryRow } from '../store/row.ts'
import { SUMMARY_COLUMNS, type SummaryTuple, toSummaryRow } from '../store/summary-columns.ts'

/** Runs a statement that SQLite and PostgreSQL both know, with `?` for each parameter. */
export type Read = (sql: string, params: readonly unknown[]) => Promise<unknown[][]>

/** What summaries and overviews read. */
export type ReadStore = ReturnType<typeof createReadStore>

const IN_PERIOD = 'site_id = ? AND hour BETWEEN ? AND ?'
const IN_DAYS = 'site_id = ? AND day BETWEEN ? AND ?'

export function createReadStore(readRows: Read) {
  const read = <Row extends unknown[]>(sql: string, params: readonly unknown[]) =>
    readAs<Row>(readRows, sql, params)
  return {
    /** The hourly rows with their percentiles, sorted by hour, country and device. */
    listSummary: async (filter: RowFilter): Promise<SummaryRow[]> => {
      const { isWanted, params } = condition('hour', filter)
      const sql = `SELECT ${SUMMARY_COLUMNS.join(', ')} FROM rum_hours WHERE ${isWanted}
        ORDER BY hour, country, device`
      return (await read<SummaryTuple>(sql, params)).map(toSummaryRow)
    },
    /** The hourly rows by time, in pages. */
    readHours: (filter: RowFilter) => readSpans(readRows, 'hour', filter),
    /** The daily rows in the same way. `hour` is the first hour of the day. */
    readDays: (filter: RowFilter) => readSpans(readRows, 'day', filter),
    /** The pages with the most samples, in a period of days. */
    topPaths: async (filter: PathFilter, limit: number) => {
      const { rows, params } = pagesOf('path, samples', filter)
      const sql = `SELECT path FROM (${rows}) AS pages GROUP BY path ORDER BY sum(samples) DESC, path LIMIT ?`
      return (await read<[string]>(sql, [...params, limit])).map(([path]) => path)
    },
    /** The daily rows of a page by time, in a period of days. `hour` is the first hour of the day. */
    pathRows: async (filter: PathFilter, path: string): Promise<SpanRow[]> => {
      const { rows, params } = pagesOf('day, device, samples, sketches', filter, path)
      const found = await read<PageTuple>(`${rows} ORDER BY day, device`, params)
      return found.map(([day, device, samples, sketches]) => {
        return { hour: day * HOURS_OF_DAY, country: '', device, samples, sketches }
      })
    },
    /** The errors of the period, from all devices and countries. */
    totalErrors: async (siteId: string, { from, to }: TelemetryPeriod): Promise<ErrorTotal[]> => {
      const sql = `SELECT hash, sum(count), min(first_at), max(last_at) FROM rum_errors
        WHERE ${IN_PERIOD} GROUP BY hash`
      const rows = await read<[string, number, number, number]>(sql, [siteId, from, to])
      return rows.map(([hash, count, firstAt, lastAt]) => ({ hash, count, firstAt, lastAt }))
    },
    /** The first error of a kind on a day; undefined if none. */
    findErrorSample: async ({ siteId, day, hash }: SampleKey): Promise<ErrorSample | undefined> => {
      const sql = 'SELECT sample FROM rum_error_samples WHERE site_id = ? AND day = ? AND hash = ?'
      const [row] = await read<[string]>(sql, [siteId, day, hash])
      return row && keepKnown(JSON.parse(row[0]))
    },
    /** The views of a day by cause, page and kind of device. */
    listCauses: async (siteId: string, day: number): Promise<CauseCount[]> => {
      const sql = 'SELECT label, count FROM rum_attribution WHERE site_id = ? AND day = ?'
      const rows = await read<[string, number]>(sql, [siteId, day])
      return rows.map(([label, count]) => ({ day, label, count }))
    },
    totalCounts: async ({ siteId, period: { from, to } }: RowFilter): Promise<CountTotal[]> => {
      const sql = `SELECT kind, label, sum(count), max(hour) FROM rum_counts
        WHERE ${IN_PERIOD} GROUP BY kind, label ORDER BY 3 DESC, label`
      const rows = await read<[CountTotal['kind'], string, number, number]>(sql, [siteId, from, to])
      return rows.map(([kind, label, count, lastHour]) => ({ kind, label, count, lastHour }))
    },
  }
}

/** Leaves out what only a newer release writes and answers. */
function keepKnown({ message, type, source, line, column, stack, path }: ErrorSample): ErrorSample {
  return {
    message,
    ...(type !== undefined && { type }),
    ...(source !== undefined && { source }),
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
    ...(stack !== undefined && { stack }),
    ...(path !== undefined && { path }),
  }
}

/** The condition for the rows of a filter, and the values of its parameters. */
function condition(column: 'hour' | 'day', { siteId, period, country, device }: RowFilter) {
  const chosen = Object.entries({ country, device }).filter(([, value]) => value !== undefined)
  const others = chosen.map(([name]) => ` AND ${name} = ?`)
  return {
    isWanted: `${column === 'hour' ? IN_PERIOD : IN_DAYS}${others.join('')}`,
    params: [siteId, period.from, period.to, ...chosen.map(([, value]) => value)],
  }
}

type PageTuple = [day: number, device: string, samples: number, bytes: Uint8Array]

/** The rows of pages, of one or of all. An earlier release has counted them without their devices. */
function pagesOf(columns: string, { siteId, period, device }: PathFilter, path?: string) {
  const chosen = Object.entries({ path, device }).filter(([, value]) => value !== undefined)
  const isWanted = [IN_DAYS, ...chosen.map(([name]) => `${name} = ?`)].join(' AND ')
  const params = [siteId, period.from, period.to, ...chosen.map(([, value]) => value)]
  const rows = `SELECT ${columns} FROM rum_pages WHERE ${isWanted}`
  if (device !== undefined) return { rows, params }
  const earlier = `SELECT ${columns.replace('device', "'' AS device")} FROM rum_paths WHERE ${isWanted}`
  return { rows: `${rows} UNION ALL ${earlier}`, params: [...params, ...params] }
}

/** Reads rows whose columns have the types of `Row`. */
async function readAs<Row extends unknown[]>(
  read: Read,
  sql: string,
  params: readonly unknown[],
): Promise<Row[]> {
  return (await read(sql, params)) as Row[] // safe: by the statement
}

const PAGE_ROWS = 250

type SpanTuple = [span: number, country: string, device: string, samples: number, bytes: Uint8Array]

/** Reads rows by time, in pages, so that other requests can run in between. */
async function* readSpans(
  read: Read,
  column: 'hour' | 'day',
  filter: RowFilter,
): AsyncGenerator<SpanRow[]> {
  const [table, hours] = column === 'hour' ? ['rum_sketches', 1] : ['rum_days', HOURS_OF_DAY]
  const { to } = filter.period
  let last: readonly [number, string, string] | undefined = [filter.period.from - 1, '', '']
  while (last !== undefined) {
    // SQLite finds the first row by BETWEEN alone, so its lower bound must grow from page to page.
    const from = Math.max(filter.period.from, last[0])
    const { isWanted, params } = condition(column, { ...filter, period: { from, to } })
    const sql = `SELECT ${column}, country, device, samples, sketches FROM ${table}
      WHERE ${isWanted} AND (${column}, country, device) > (?, ?, ?)
      ORDER BY ${column}, country, device LIMIT ${PAGE_ROWS}`
    const page: SpanTuple[] = await readAs(read, sql, [...params, ...last])
    yield page.map(([span, country, device, samples, sketches]) => {
      return { hour: span * hours, country, device, samples, sketches }
    })
    const end = page.at(PAGE_ROWS - 1)
    last = end && [end[0], end[1], end[2]]
  }
}
