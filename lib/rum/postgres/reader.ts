import type { PgConnection, PgPool } from '../../postgres/connection.ts'
import { HOURS_OF_DAY } from '../hour.ts'
import type { ReadStore } from '../read/read-store.ts'
import { createReader, type RumReader } from '../reader.ts'
import type { CountTotal } from '../store/counts.ts'
import type { RowFilter, SpanRow, SummaryRow } from '../store/row.ts'
import { SUMMARY_COLUMNS, type SummaryColumns, toSummaryRow } from '../store/summary-columns.ts'

/** Reads stored telemetry of all nodes. */
export function createPgRumReader(pool: PgPool): RumReader {
  const read = <Result>(work: (reader: RumReader) => Promise<Result>) =>
    pool.use((connection) => work(createReader(createReadStore(connection))))
  return {
    readSummary: (filter, live) => read((reader) => reader.readSummary(filter, live)),
    readOverview: (filter) => read((reader) => reader.readOverview(filter)),
  }
}

const IN_PERIOD = 'site_id = $1 AND hour BETWEEN $2 AND $3'
const IN_DAYS = 'site_id = $1 AND day BETWEEN $2 AND $3'
const IS_WANTED = `($4::text IS NULL OR country = $4) AND ($5::text IS NULL OR device = $5)`

function filterParams({ siteId, period, country, device }: RowFilter): unknown[] {
  return [siteId, period.from, period.to, country ?? null, device ?? null]
}

function createReadStore(connection: PgConnection): ReadStore {
  /** The rows, whose columns have the types of `Row`. */
  const read = async <Row extends readonly unknown[]>(sql: string, params: readonly unknown[]) =>
    (await connection.query(sql, params)).rows as unknown as Row[] // safe: by the statement
  return {
    listSummary: async (filter) => {
      const sql = `SELECT ${SUMMARY_COLUMNS.join(', ')} FROM rum_hours
        WHERE ${IN_PERIOD} AND ${IS_WANTED} ORDER BY hour, country, device`
      return (await read(sql, filterParams(filter))).map(toSummary)
    },
    readHours: (filter) => readSpans(connection, 'hour', filter),
    readDays: (filter) => readSpans(connection, 'day', filter),
    topPaths: async (siteId, { from, to }, limit) => {
      const sql = `SELECT path FROM rum_paths WHERE ${IN_DAYS}
        GROUP BY path ORDER BY sum(samples) DESC, path LIMIT $4`
      return (await read<[string]>(sql, [siteId, from, to, limit])).map(([path]) => path)
    },
    pathRows: async (siteId, { from, to }, path) => {
      const sql = `SELECT samples, sketches FROM rum_paths WHERE ${IN_DAYS} AND path = $4 ORDER BY day`
      const rows = await read<[number, Uint8Array]>(sql, [siteId, from, to, path])
      return rows.map(([samples, sketches]) => ({ samples, sketches }))
    },
    totalErrors: async (siteId, { from, to }) => {
      const sql = `SELECT hash, sum(count), min(first_at), max(last_at) FROM rum_errors
        WHERE ${IN_PERIOD} GROUP BY hash`
      const rows = await read<[string, number, number, number]>(sql, [siteId, from, to])
      return rows.map(([hash, count, firstAt, lastAt]) => ({ hash, count, firstAt, lastAt }))
    },
    findErrorSample: async ({ siteId, day, hash }) => {
      const sql = `SELECT sample FROM rum_error_samples
        WHERE site_id = $1 AND day = $2 AND hash = $3`
      const [row] = await read<[string]>(sql, [siteId, day, hash])
      return row && JSON.parse(row[0])
    },
    totalCounts: async ({ siteId, period: { from, to } }) => {
      const sql = `SELECT kind, label, sum(count), max(hour) FROM rum_counts
        WHERE ${IN_PERIOD} GROUP BY kind, label ORDER BY 3 DESC, label`
      const rows = await read<[CountTotal['kind'], string, number, number]>(sql, [siteId, from, to])
      return rows.map(([kind, label, count, lastHour]) => ({ kind, label, count, lastHour }))
    },
  }
}

function toSummary(row: readonly unknown[]): SummaryRow {
  const columns: Record<string, unknown> = {}
  for (const [at, name] of SUMMARY_COLUMNS.entries()) columns[name] = row[at]
  return toSummaryRow(columns as unknown as SummaryColumns) // safe: these are the columns
}

const PAGE_ROWS = 250

/** Reads rows by time, in pages. */
async function* readSpans(
  connection: PgConnection,
  column: 'hour' | 'day',
  filter: RowFilter,
): AsyncGenerator<SpanRow[]> {
  const [table, hours, period] =
    column === 'hour' ? ['rum_sketches', 1, IN_PERIOD] : ['rum_days', HOURS_OF_DAY, IN_DAYS]
  const sql = `SELECT ${column}, country, device, samples, sketches FROM ${table}
    WHERE ${period} AND ${IS_WANTED}
      AND (${column}, country, device) > ($6::bigint, $7::text, $8::text)
    ORDER BY ${column}, country, device LIMIT ${PAGE_ROWS}`
  let last: unknown[] | undefined = [filter.period.from - 1, '', '']
  while (last !== undefined) {
    const params: unknown[] = [...filterParams(filter), ...last.slice(0, 3)]
    const { rows } = await connection.query(sql, params)
    yield rows.map((row) => {
      // safe: these are the types of the columns
      const [span, country, device, samples, sketches] = row as [
        number,
        string,
        string,
        number,
        Uint8Array,
      ]
      return { hour: span * Number(hours), country, device, samples, sketches }
    })
    last = rows.length < PAGE_ROWS ? undefined : rows.at(-1)
  }
}
