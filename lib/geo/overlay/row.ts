import { csvParseRows } from 'd3-dsv'
import * as v from 'valibot'
import { type Address, isMapped, unmapped } from '../address.ts'
import { type Network, parseNetwork } from '../network.ts'
import { findCountry } from './countries.ts'
import { embeddedIpv4, isIpv4Compatible } from './embedded-ipv4.ts'
import { utcOffset } from './timezones.ts'

const text = v.pipe(v.string(), v.nonEmpty('must not be empty'))

const number = (least: number, most: number) =>
  v.pipe(
    v.string(),
    v.regex(/^-?\d+(\.\d+)?$/, 'must be a number'),
    v.toNumber(),
    v.minValue(least, `must be at least ${least}`),
    v.maxValue(most, `must be at most ${most}`),
  )

const COLUMNS = {
  country: v.optional(
    v.pipe(
      v.string(),
      v.check((code) => findCountry(code) !== undefined, 'must be an ISO 3166-1 code such as DE'),
    ),
  ),
  region: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[A-Z]{2}-[A-Z0-9]{1,3}$/, 'must be an ISO 3166-2 code such as DE-BE'),
    ),
  ),
  regionName: v.optional(text),
  district: v.optional(text),
  city: v.optional(text),
  postalCode: v.optional(text),
  latitude: v.optional(number(-90, 90)),
  longitude: v.optional(number(-180, 180)),
  accuracyRadiusKm: v.optional(number(0, 20_000)),
  timezone: v.optional(
    v.pipe(
      v.string(),
      v.check(
        (zone) => /^[A-Z]/.test(zone) && utcOffset(zone, 0) !== undefined,
        'must be an IANA timezone such as Europe/Berlin',
      ),
    ),
  ),
  asn: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^(AS)?\d{1,10}$/, 'must be a number such as AS64500'),
      v.transform((asn) => Number(asn.replace('AS', ''))),
      v.minValue(1, 'must be at least 1'),
      v.maxValue(0xffff_ffff, 'must be at most 4294967295'),
    ),
  ),
  organization: v.optional(text),
  domain: v.optional(text),
}

const Row = v.strictObject(COLUMNS, `is no column; there are ${Object.keys(COLUMNS).join(', ')}`)
export type Row = v.InferOutput<typeof Row>

/** What a column needs to be shown: without it, its value would be passed over in silence. */
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

/** Reads the rows of an overlay; throws an error that names the first line it cannot read. */
export function readOverlayRows(csv: string): OverlayRow[] {
  const rows: OverlayRow[] = []
  for (const [at, line] of csv.split(/\r\n|\r|\n/).entries()) {
    const plain = line.trim()
    if (NO_ROW.test(plain)) continue
    try {
      rows.push(readLine(plain))
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new Error(`Cannot read the overlay: line ${at + 1}: ${reason}`, { cause })
    }
  }
  if (rows.length === 0) throw new Error('Cannot read the overlay: it has no rows')
  return rows
}

/** Blank, or a comment, also as spreadsheets save them: with the commas or quotes of a row. */
const NO_ROW = /^[,\s]*$|^"?#/

function readLine(line: string): OverlayRow {
  const [first = '', ...columns] = readCells(line)
  return { network: readNetwork(first), row: readRow(columns) }
}

/** RFC 4180: a cell with quotes is quoted from its beginning to its end. */
const LINE = /^("([^"]|"")*"|[^",]*)(,("([^"]|"")*"|[^",]*))*$/

/** Each line for itself: a quote that is not closed must not swallow the lines below. */
function readCells(line: string): string[] {
  if (!LINE.test(line)) {
    throw new Error('a quote is not closed, or in the middle of a column; write "city=A ""B"" C"')
  }
  return (csvParseRows(line)[0] ?? []).map((cell) => cell.trim())
}

function readNetwork(cell: string): Network {
  const network = parseNetwork(cell)
  if (network === null) throw new Error(`"${cell}" is not a network such as 10.0.0.0/8`)
  const plain = asIpv4(network)
  if (isLookedUpAsIpv4(plain)) {
    throw new Error(`"${cell}" is never looked up: write the IPv4 network that it stands for`)
  }
  return plain
}

/** ::ffff:10.0.0.0/104 as 10.0.0.0/8, under which it is looked up. */
function asIpv4({ address, prefix }: Network): Network {
  const isIpv4 = address.version === 6 && isMapped(address.words) && prefix >= 96
  const plain: Address = isIpv4 ? unmapped(address) : address
  return { address: plain, prefix: isIpv4 ? prefix - 96 : prefix }
}

function isLookedUpAsIpv4({ address, prefix }: Network): boolean {
  if (address.version === 4) return false
  const { words } = address
  return (
    (prefix >= 96 && isIpv4Compatible(words)) ||
    (prefix >= 32 && embeddedIpv4(words)?.always === true)
  )
}

function readRow(cells: readonly string[]): Row {
  const columns = new Map<string, string>()
  for (const cell of cells.filter((filled) => filled !== '')) {
    const equals = cell.indexOf('=')
    const name = cell.slice(0, Math.max(0, equals)).trim()
    if (name === '') throw new Error(`"${cell}" is not name=value`)
    if (columns.has(name)) throw new Error(`${name} is there twice`)
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
