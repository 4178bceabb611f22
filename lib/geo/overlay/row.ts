import * as v from 'valibot'
import type { Network } from '../../parts/net/network.ts'
import { parseSystemNumber } from '../../parts/net/system-number.ts'
import { reasonOf } from '../../parts/reason.ts'
import { zoneNames } from '../answer/packed-zones.ts'
import { findCountry } from '../place/countries.ts'
import { readCells, readNetwork } from './cells.ts'

const text = v.pipe(v.string(), v.nonEmpty('must not be empty'))

const number = (least: number, most: number) =>
  v.pipe(
    v.string(),
    v.regex(/^-?\d+(\.\d+)?$/, 'must be a number'),
    v.toNumber(),
    v.minValue(least, `must be at least ${least}`),
    v.maxValue(most, `must be at most ${most}`),
  )

const ZONES = zoneNames()

const COLUMNS = {
  country: v.pipe(
    v.string(),
    v.check((code) => findCountry(code) !== undefined, 'must be an ISO 3166-1 code such as DE'),
  ),
  region: v.pipe(
    v.string(),
    v.regex(/^[A-Z]{2}-[A-Z0-9]{1,3}$/, 'must be an ISO 3166-2 code such as DE-BE'),
  ),
  regionName: text,
  district: text,
  city: text,
  postalCode: text,
  latitude: number(-90, 90),
  longitude: number(-180, 180),
  accuracyRadiusKm: number(0, 20_000),
  timezone: v.pipe(
    v.string(),
    v.check((zone) => ZONES.has(zone), 'must be an IANA timezone such as Europe/Berlin'),
  ),
  asn: v.pipe(
    v.string(),
    v.transform(parseSystemNumber),
    v.number('must be a number such as AS64500'),
    v.minValue(1, 'must be at least 1'),
  ),
  organization: text,
  domain: text,
}

const Row = v.partial(
  v.strictObject(COLUMNS, `is not a column; the columns are ${Object.keys(COLUMNS).join(', ')}`),
)
export type Row = v.InferOutput<typeof Row>

/** An answer shows a column only together with the columns that it needs. */
const NEEDS: readonly (readonly [column: keyof Row, needed: keyof Row])[] = [
  ['region', 'country'],
  ['regionName', 'region'],
  ['district', 'region'],
  ['district', 'city'],
  ['city', 'country'],
  ['postalCode', 'city'],
  ['latitude', 'city'],
  ['latitude', 'longitude'],
  ['longitude', 'latitude'],
  ['accuracyRadiusKm', 'latitude'],
  ['timezone', 'country'],
]

export interface OverlayRow {
  readonly network: Network
  readonly row: Row
}

/** Reads the rows of an overlay. Throws an error that names the first bad line. */
export function readOverlayRows(csv: string): OverlayRow[] {
  const rows: OverlayRow[] = []
  for (const [at, line] of csv.split(/\r\n|\r|\n/).entries()) {
    const plain = line.trim()
    if (NO_ROW.test(plain)) continue
    try {
      rows.push(readLine(plain))
    } catch (cause) {
      throw new Error(`Cannot read the overlay: line ${at + 1}: ${reasonOf(cause)}`, { cause })
    }
  }
  if (rows.length === 0) throw new Error('Cannot read the overlay: it has no rows')
  return rows
}

/** Blank lines and comments, including those that spreadsheets save with commas or quotes. */
const NO_ROW = /^[,\s]*$|^"?#/

function readLine(line: string): OverlayRow {
  const [first = '', ...columns] = readCells(line)
  return { network: readNetwork(first), row: readRow(columns) }
}

function readRow(cells: readonly string[]): Row {
  const columns = new Map<string, string>()
  for (const cell of cells.filter((filled) => filled !== '')) {
    const equals = cell.indexOf('=')
    const name = cell.slice(0, Math.max(0, equals)).trim()
    if (name === '') throw new Error(`"${cell}" is not name=value`)
    if (columns.has(name)) throw new Error(`${name} is given twice`)
    columns.set(name, cell.slice(equals + 1).trim())
  }
  const result = v.safeParse(Row, Object.fromEntries(columns), { abortEarly: true })
  if (!result.success) {
    const [issue] = result.issues
    throw new Error(`${v.getDotPath(issue) ?? 'the row'} ${issue.message}`)
  }
  checkNeeds(result.output)
  return result.output
}

function checkNeeds(row: Row): void {
  for (const [column, needed] of NEEDS) {
    if (row[column] !== undefined && row[needed] === undefined) {
      throw new Error(`${column} needs ${needed}`)
    }
  }
  if (row.region !== undefined && !row.region.startsWith(`${row.country}-`)) {
    throw new Error(`region ${row.region} is not in ${row.country}`)
  }
}
