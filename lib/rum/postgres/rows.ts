import { mapInSlices } from '../../parts/time-slices.ts'
import type { PgConnection } from '../../postgres/connection.ts'
import { addToStored, type LiveRow, type LiveRows } from '../rows/live-rows.ts'
import { OTHER_PATHS, PATH_CAP, type SiteFold } from '../rows/site-fold.ts'
import { addMeasures } from '../sketch/measures.ts'
import { encodeMeasures } from '../sketch/measures-blob.ts'
import { type PathKey, type Row, toRow } from '../store/row.ts'
import { PERCENTILE_COLUMNS, toPercentiles } from '../store/summary-columns.ts'
import { type Bulk, type Columns, readAll, replaceAll, runBulk, type Tuple } from './bulk.ts'
import { admitNames, type DayName, type FullDay, nameTable } from './names.ts'

/** What must be added to a stored row. */
interface Delta<Key> {
  readonly siteId: string
  readonly row: LiveRow<Key>
}

/** A table of rows with sketches. */
interface SketchTable {
  readonly read: Bulk
  readonly save: Bulk
}

const PLACE: Columns = { country: 'text', device: 'text' }
const HOUR: Columns = { site_id: 'text', hour: 'bigint', ...PLACE }
const DAY: Columns = { site_id: 'text', day: 'bigint', ...PLACE }
const PATH: Columns = { site_id: 'text', day: 'bigint', path: 'text', device: 'text' }

function sketchTable(table: string, key: Columns): SketchTable {
  return {
    read: readAll(table, key, ['samples', 'sketches']),
    save: replaceAll(table, key, { samples: 'bigint', sketches: 'bytea' }),
  }
}

const HOURS = sketchTable('rum_sketches', HOUR)
const DAYS = sketchTable('rum_days', DAY)
const PATHS = sketchTable('rum_pages', PATH)
const PATH_NAMES = nameTable('rum_pages', 'path', PATH_CAP)
const SAVE_SUMMARY = replaceAll('rum_hours', HOUR, {
  samples: 'bigint',
  ...Object.fromEntries(PERCENTILE_COLUMNS.map((name) => [name, 'double precision' as const])),
})

/** Adds the rows of the sites to the stored ones. Returns the days that have reached their limit of pages. */
export async function addRows(
  connection: PgConnection,
  sites: readonly SiteFold[],
): Promise<readonly FullDay[]> {
  const hours = deltasOf(sites, (site) => site.hours)
  const summaries: Tuple[] = []
  await addTo(connection, HOURS, hours, (key, { samples, measures }) => {
    summaries.push([...key, samples, ...toPercentiles(measures)])
  })
  await runBulk(connection, SAVE_SUMMARY, summaries)
  const days = deltasOf(sites, (site) => site.days)
  await addTo(connection, DAYS, days)
  const paths = deltasOf(sites, (site) => site.paths)
  return addPaths(connection, paths)
}

function deltasOf<Key extends object>(
  sites: readonly SiteFold[],
  choose: (site: SiteFold) => LiveRows<Key>,
): Delta<Key>[] {
  return sites.flatMap((site) => {
    const { siteId } = site
    return choose(site)
      .changed()
      .map((row) => ({ siteId, row }))
  })
}

/** The values of the key, which are in the order of its columns. */
function toTuple({ siteId, row }: Delta<object>): Tuple {
  return [siteId, ...Object.values(row.key)]
}

/** Adds the deltas to the stored rows. `onSum` gets each sum: kept together, they would take much memory. */
async function addTo(
  connection: PgConnection,
  { read, save }: SketchTable,
  deltas: readonly Delta<object>[],
  onSum?: (key: Tuple, sum: Row) => void,
): Promise<void> {
  const rows = await runBulk(connection, read, deltas.map(toTuple))
  const stored = new Map(rows.map((row) => [row.slice(0, -2).join(' '), row.slice(-2)]))
  const saved = await mapInSlices(deltas, (delta) => {
    const tuple = toTuple(delta)
    const sum = addToStored(delta.row, toStored(stored.get(tuple.join(' '))))
    onSum?.(tuple, sum)
    return [...tuple, sum.samples, encodeMeasures(sum.measures)]
  })
  await runBulk(connection, save, saved)
}

function toStored(found: Tuple | undefined): Row | undefined {
  if (found === undefined) return undefined
  // safe: these are the types of the columns
  const [samples, sketches] = found as [number, Uint8Array]
  return toRow({ samples, sketches })
}

async function addPaths(
  connection: PgConnection,
  deltas: readonly Delta<PathKey>[],
): Promise<readonly FullDay[]> {
  const admitted = await admitNames(connection, PATH_NAMES, deltas.map(toName))
  const isKept = (delta: Delta<PathKey>) => admitted.nameOf(toName(delta)) === delta.row.key.path
  const kept = deltas.filter(isKept)
  const others = deltas.filter((delta) => !isKept(delta))
  await addTo(connection, PATHS, joinOthers(kept, others))
  return admitted.fullDays
}

function toName({ siteId, row: { key } }: Delta<PathKey>): DayName {
  return { siteId, day: key.day, name: key.path }
}

/** Adds the pages beyond the limit to the row for all others. The values of the deltas stay as they are. */
function joinOthers(
  kept: readonly Delta<PathKey>[],
  others: readonly Delta<PathKey>[],
): Delta<PathKey>[] {
  const rows = new Map(kept.map((delta) => [toTuple(delta).join(' '), delta]))
  for (const { siteId, row } of others) {
    const key = { ...row.key, path: OTHER_PATHS }
    const empty = { siteId, row: { ...row, key, samples: 0, measures: {} } }
    const name = toTuple(empty).join(' ')
    const known = (rows.get(name) ?? empty).row
    const measures = {}
    addMeasures(measures, known.measures)
    addMeasures(measures, row.measures)
    const samples = known.samples + row.samples
    rows.set(name, { siteId, row: { ...known, samples, measures } })
  }
  return [...rows.values()]
}
