import type { Connection } from '../../db/connection.ts'
import { encodeMeasures } from '../sketch/measures-blob.ts'
import {
  type DayKey,
  type HourKey,
  type PathKey,
  type Row,
  type RowTable,
  type Sketches,
  toRow,
} from './row.ts'
import { SUMMARY_COLUMNS, toPercentiles } from './summary-columns.ts'

/** The statements for the rows by hour, by day, and by page and day. */
export function rowStatements(db: Connection) {
  const saveSummary = summarySaver(db)
  const names = db.$client
    .prepare<[{ siteId: string; day: number }], string>(
      `SELECT path FROM rum_paths WHERE site_id = $siteId AND day = $day
       UNION SELECT path FROM rum_pages WHERE site_id = $siteId AND day = $day`,
    )
    .pluck()
  // An earlier release counted pages there.
  const earlier = db.$client
    .prepare<[string, number, string], number>(
      'SELECT last_id FROM rum_paths WHERE site_id = ? AND day = ? AND path = ?',
    )
    .pluck()
  const paths = rowTable<PathKey>(db, 'rum_pages', ['day', 'path', 'device'])
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
    paths: {
      ...paths,
      findLastId: (siteId, key) =>
        Math.max(paths.findLastId(siteId, key), earlier.get(siteId, key.day, key.path) ?? 0),
    } satisfies RowTable<PathKey>,
    listPaths: (siteId: string, day: number) => names.all({ siteId, day }),
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

function summarySaver({ $client }: Connection) {
  const save = $client.prepare<unknown[]>(
    `INSERT OR REPLACE INTO rum_hours (site_id, ${SUMMARY_COLUMNS.join(', ')})
     VALUES (?, ${SUMMARY_COLUMNS.map(() => '?').join(', ')})`,
  )
  return (siteId: string, { hour, country, device }: HourKey, { samples, measures }: Row) =>
    save.run(siteId, hour, country, device, samples, ...toPercentiles(measures))
}
