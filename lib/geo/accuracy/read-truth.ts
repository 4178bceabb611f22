import { type Network, networkText } from '../../parts/net/network.ts'
import { reasonOf } from '../../parts/reason.ts'
import { eachLine, readEntryCells, readPlace } from '../geofeeds/read-geofeed.ts'
import { readNetwork } from '../overlay/cells.ts'
import type { Coordinates } from '../place/finding.ts'
import { currentRegionCode } from '../place/region-code.ts'
import { type Columns, GEOFEED_COLUMNS, readColumns, readCoordinates } from './columns.ts'

/** Where the addresses of a network really are. */
export interface TruthRow {
  readonly network: Network
  /** The network as CIDR text. */
  readonly prefix: string
  /** ISO 3166-1, such as DE. */
  readonly country: string
  /** ISO 3166-2, such as DE-BE. */
  readonly region: string | undefined
  readonly city: string | undefined
  readonly coordinates: Coordinates | undefined
  /** Each group weighs the same. Without groups in the file, each prefix is a group of its own. */
  readonly group: string
}

export interface Truth {
  readonly form: 'columns' | 'geofeed'
  readonly rows: readonly TruthRow[]
  /** All networks of the file, also those that are not in `rows`. */
  readonly networks: readonly Network[]
  readonly hasGroups: boolean
  readonly skipped: {
    /** Lines that cannot be read. */
    readonly bad: number
    /** Lines that say once more what an earlier line says. */
    readonly repeated: number
    /** Networks that two lines place differently: neither line counts. */
    readonly contradictory: number
    /** Networks that the file leaves without a location (RFC 8805 section 2.1.2). */
    readonly withoutPlace: number
  }
  /** The first lines that cannot be read or contradict others, with their numbers and the reasons. */
  readonly examples: readonly string[]
}

const MAX_EXAMPLES = 5

/**
 * Reads a file of prefixes with a header line, or a geofeed (RFC 8805). Throws with the reason if nothing in
 * it can be measured.
 */
export function readTruth(bytes: Uint8Array): Truth {
  const text = new TextDecoder().decode(bytes)
  if (/^\s*</.test(text)) throw new Error('it is a page, not a list of prefixes')
  const lines = [...eachLine(text)]
  if (/^[^,]*[;\t]/.test(lines[0]?.[1] ?? '')) throw new Error('commas must separate its columns')
  const header = readColumns(lines[0]?.[1] ?? '')
  const read = readLines(header === undefined ? lines : lines.slice(1), header ?? GEOFEED_COLUMNS)
  const { entries, bad, repeated, examples } = read
  const all = [...entries.values()]
  const usable = all.filter(({ isContradictory }) => !isContradictory)
  const located = usable.flatMap(({ stated }) => stated ?? [])
  refuseEmpty(located.length, examples)
  const hasGroups = located.some(({ group }) => group !== '')
  return {
    form: header === undefined ? 'geofeed' : 'columns',
    rows: located.map((row) => (hasGroups ? row : { ...row, group: row.prefix })),
    networks: all.map(({ network }) => network),
    hasGroups,
    skipped: {
      bad,
      repeated,
      contradictory: all.length - usable.length,
      withoutPlace: usable.length - located.length,
    },
    examples,
  }
}

interface Entry {
  readonly network: Network
  readonly line: number
  /** undefined: the file says that the network has no location. */
  readonly stated: TruthRow | undefined
  isContradictory: boolean
}

function readLines(lines: readonly (readonly [number, string])[], columns: Columns) {
  const entries = new Map<string, Entry>()
  const examples: string[] = []
  let bad = 0
  let repeated = 0
  const note = (line: number, reason: string) => {
    if (examples.length < MAX_EXAMPLES) examples.push(`line ${line}: ${reason}`)
  }
  for (const [line, text] of lines) {
    try {
      const entry = readEntry(text, line, columns)
      const prefix = textOf(entry.network)
      const earlier = entries.get(prefix)
      if (earlier === undefined) entries.set(prefix, entry)
      else if (isSame(earlier.stated, entry.stated)) repeated += 1
      else {
        earlier.isContradictory = true
        note(line, `${prefix} is elsewhere in line ${earlier.line}`)
      }
    } catch (cause) {
      bad += 1
      note(line, reasonOf(cause))
    }
  }
  return { entries, bad, repeated, examples }
}

function readEntry(text: string, line: number, columns: Columns): Entry {
  const cells = readEntryCells(text)
  const cell = (at: number | undefined) => (at === undefined ? '' : (cells[at] ?? ''))
  const network = readNetwork(cell(columns.prefix))
  const country = cell(columns.country)
  const place = readPlace(country, fullCode(country, cell(columns.region)), cell(columns.city))
  const coordinates = readCoordinates(cell(columns.lat), cell(columns.lon))
  if (place === undefined && coordinates !== undefined) {
    throw new Error('its coordinates have no country')
  }
  const stated = place && {
    network,
    prefix: textOf(network),
    country: place.country,
    region: place.region && currentRegionCode(place.region),
    city: place.city,
    coordinates,
    group: cell(columns.group),
  }
  return { network, line, stated, isContradictory: false }
}

/** Many files have only the part of ISO 3166-2 after the country. */
function fullCode(country: string, region: string): string {
  return country !== '' && /^[a-z\d]{1,3}$/i.test(region) ? `${country}-${region}` : region
}

/** Whether both place the network alike. Their groups may differ: the first one counts. */
function isSame(one: TruthRow | undefined, other: TruthRow | undefined): boolean {
  return (
    one?.country === other?.country &&
    one?.region === other?.region &&
    one?.city === other?.city &&
    one?.coordinates?.latitude === other?.coordinates?.latitude &&
    one?.coordinates?.longitude === other?.coordinates?.longitude
  )
}

function textOf({ address, prefix }: Network): string {
  return networkText(address, prefix)
}

function refuseEmpty(rows: number, [example]: readonly string[]): void {
  if (rows > 0) return
  const reason = example === undefined ? '' : `; ${example}`
  throw new Error(`it has no line with a prefix and its country${reason}`)
}
