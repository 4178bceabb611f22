import { readFileSync } from 'node:fs'
import { csvParseRows } from 'd3-dsv'
import { parseAddress } from '../address.ts'
import { createMmdbWriter } from './mmdb-writer.ts'

export interface CompileOptions {
  /** Epoch milliseconds, for the metadata. */
  readonly builtAt: number
  /** Called now and then with the share that is done, 0 to 1. */
  readonly onProgress: (share: number) => void
}

const REPORT_EVERY_ROWS = 20_000

/**
 * Compiles CSV files of `first,last,number,organization` into one database in the layout of
 * MaxMind's ASN files, IPv4 and IPv6. Throws an error that names the line it cannot read.
 */
export function compileAsn(paths: readonly string[], options: CompileOptions): Uint8Array {
  const writer = createMmdbWriter({
    databaseType: 'ip-location-db-ASN',
    description: 'ASN by RouteViews, NRO and DB-IP, compiled from the CSV of ip-location-db',
    builtAt: options.builtAt,
    ipVersion: 6,
  })
  const owners = new Map<string, AsnRecord>()
  for (const [at, path] of paths.entries()) {
    const rows = csvParseRows(readFileSync(path, 'utf8'))
    for (const [line, row] of rows.entries()) {
      const { first, last, owner } = readRow(row, owners) ?? refuse(path, line + 1)
      writer.insertRange(first, last, owner)
      if (line % REPORT_EVERY_ROWS === 0)
        options.onProgress((at + line / rows.length) / paths.length)
    }
  }
  return writer.toBytes()
}

interface AsnRecord {
  readonly [key: string]: number | string
}

/** One record object per owner: the writer knows it again without comparing. */
function readRow(row: readonly string[], owners: Map<string, AsnRecord>) {
  const [start = '', end = '', number = '', organization = ''] = row
  const first = parseAddress(start)
  const last = parseAddress(end)
  if (first === null || last === null || !/^\d{1,10}$/.test(number)) return null
  const key = `${number},${organization}`
  const owner = owners.get(key) ?? {
    autonomous_system_number: Number(number),
    autonomous_system_organization: organization,
  }
  owners.set(key, owner)
  return { first, last, owner }
}

function refuse(path: string, line: number): never {
  throw new Error(`Cannot compile ${path}: line ${line} is not first,last,number,organization`)
}
