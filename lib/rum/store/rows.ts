import type { Connection } from '../../db/connection.ts'
import { HOURS_OF_DAY, type TelemetryPeriod } from '../hour.ts'
import { encodeMeasures } from '../sketch/measures-blob.ts'
import {
  type DayKey,
  type HourKey,
  type PathKey,
  type Row,
  type RowFilter,
  type RowTable,
  type SitePeriod,
  type Sketches,
  type SpanRow,
  type SummaryRow,
  toRow,
} from './row.ts'
import {
  SUMMARY_COLUMNS,
  type SummaryColumns,
  toPercentiles,
  toSummaryRow,
} from './summary-columns.ts'

/** The statements for the rows by hour, by day, and by page and day. */
export function rowStatements(db: Connection) {
  const { saveSummary, listSummary } = summaryStatements(db)
  const hours = rowTable<HourKey>(db, 'rum_sketches', ['hour', 'country', 'device'])
  return {
    hours: {
      ...hours,
      save: (siteId, key, row) => {
        hours.save(siteId, key, row)
        saveSummary(siteId, key, row)
      },
    } satisfies RowTable<HourKey>,
    days: rowTable<DayKey>(db, 'rum_days', ['day', 'country', 'device']),
    paths: rowTable<PathKey>(db, 'rum_paths', ['day', 'path']),
    listSummary,
    /** Reads the hourly rows by time, in pages, so that other requests can run in between. */
    readHours: spanReader(db, 'rum_sketches', 'hour'),
    /** Reads the daily rows in the same way. `hour` is the first hour of the day. */
    readDays: spanReader(db, 'rum_days', 'day'),
    ...pathStatements(db),
  }
}

function rowTable<Key extends object>(
  { $client }: Connection,
  table: string,
  columns: readonly string[],
) {
  const hasKey = columns.map((name) => `${name} = $${name}`).join(' AND ')
  const isRow = `site_id = $siteId AND ${hasKey}`
  const findLastId = $client
    .prepare<[object], number>(`SELECT last_id FROM ${table} WHERE ${isRow}`)
    .pluck()
  const find = $client.prepare<[object], Sketches>(
    `SELECT samples, sketches FROM ${table} WHERE ${isRow}`,
  )
  const save = $client.prepare<[object]>(
    `INSERT OR REPLACE INTO ${table} (site_id, ${columns.join(', ')}, samples, sketches, last_id)
     VALUES ($siteId, ${columns.map((name) => `$${name}`).join(', ')}, $samples, $sketches, $lastId)`,
  )
  return {
    findLastId: (siteId, key) => findLastId.get({ ...key, siteId }) ?? 0,
    find: (siteId, key) => {
      const stored = find.get({ ...key, siteId })
      return stored && toRow(stored)
    },
    save: (siteId, key, { samples, measures, lastId }) => {
      save.run({ ...key, siteId, samples, sketches: encodeMeasures(measures), lastId })
    },
  } satisfies RowTable<Key>
}

type FilterParams = ReturnType<typeof filterParams>

const IS_WANTED = `($country IS NULL OR country = $country)
  AND ($device IS NULL OR device = $device)`

function filterParams({ siteId, period, country, device }: RowFilter) {
  return { siteId, ...period, country: country ?? null, device: device ?? null }
}

function summaryStatements({ $client }: Connection) {
  const save = $client.prepare<unknown[]>(
    `INSERT OR REPLACE INTO rum_hours (site_id, ${SUMMARY_COLUMNS.join(', ')})
     VALUES (?, ${SUMMARY_COLUMNS.map(() => '?').join(', ')})`,
  )
  const list = $client.prepare<[FilterParams], SummaryColumns>(
    `SELECT ${SUMMARY_COLUMNS.join(', ')} FROM rum_hours
     WHERE site_id = $siteId AND hour BETWEEN $from AND $to AND ${IS_WANTED}
     ORDER BY hour, country, device`,
  )
  return {
    saveSummary: (siteId: string, key: HourKey, { samples, measures }: Row) => {
      const { hour, country, device } = key
      save.run(siteId, hour, country, device, samples, ...toPercentiles(measures))
    },
    /** The hourly rows with their percentiles, sorted by hour, country and device. */
    listSummary: (filter: RowFilter): SummaryRow[] =>
      list.all(filterParams(filter)).map(toSummaryRow),
  }
}

const PAGE_ROWS = 250

function spanReader({ $client }: Connection, table: string, column: 'hour' | 'day') {
  const hours = column === 'hour' ? 1 : HOURS_OF_DAY
  // Sorts by the column of the table, which has an index, not by the computed `hour`. Of the bounds,
  // SQLite uses only BETWEEN to find the first row: it must grow from page to page.
  const read = $client.prepare<[object], SpanRow>(
    `SELECT ${column} * ${hours} AS hour, country, device, samples, sketches FROM ${table}
     WHERE site_id = $siteId AND ${IS_WANTED}
       AND ${column} BETWEEN max($from, $lastHour / ${hours}) AND $to
       AND (${column}, country, device) > ($lastHour / ${hours}, $lastCountry, $lastDevice)
     ORDER BY ${table}.${column}, country, device LIMIT ${PAGE_ROWS}`,
  )
  return function* (filter: RowFilter): Generator<SpanRow[]> {
    const params = filterParams(filter)
    let last: HourKey | undefined = {
      hour: (filter.period.from - 1) * hours,
      country: '',
      device: '',
    }
    while (last !== undefined) {
      const { hour: lastHour, country: lastCountry, device: lastDevice } = last
      const page = read.all({ ...params, lastHour, lastCountry, lastDevice })
      yield page
      last = page.at(-1)
    }
  }
}

function pathStatements({ $client }: Connection) {
  const names = $client
    .prepare<[string, number], string>('SELECT path FROM rum_paths WHERE site_id = ? AND day = ?')
    .pluck()
  const top = $client
    .prepare<[SitePeriod & { limit: number }], string>(
      `SELECT path FROM rum_paths WHERE site_id = $siteId AND day BETWEEN $from AND $to
       GROUP BY path ORDER BY sum(samples) DESC, path LIMIT $limit`,
    )
    .pluck()
  const rows = $client.prepare<[SitePeriod & { path: string }], Sketches>(
    `SELECT samples, sketches FROM rum_paths
     WHERE site_id = $siteId AND day BETWEEN $from AND $to AND path = $path`,
  )
  return {
    listPaths: (siteId: string, day: number) => names.all(siteId, day),
    /** The pages with the most samples, in a period of days. */
    topPaths: (siteId: string, days: TelemetryPeriod, limit: number) =>
      top.all({ siteId, ...days, limit }),
    pathRows: (siteId: string, days: TelemetryPeriod, path: string) =>
      rows.all({ siteId, ...days, path }),
  }
}
