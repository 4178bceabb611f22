import { basename } from 'node:path'
import type { Address } from '../address.ts'
import { CardCache } from './card-cache.ts'
import { asMap } from './fields.ts'
import { type Finding, NOTHING } from './finding.ts'
import { openBytes, type Residence } from './mapped-file.ts'
import { type Mmdb, type MmdbMetadata, openMmdb } from './mmdb.ts'
import { chooseSchema } from './schemas/choose.ts'
import type { RegionCode, Schema } from './schemas/schema.ts'

/** One open database file. */
export interface GeoDatabase {
  /** File name without its ending. */
  readonly name: string
  /** Short name of who made the data: maxmind, dbip, ipinfo. */
  readonly provider: string
  readonly metadata: MmdbMetadata
  readonly residence: Residence
  readonly bytes: number
  /** What the file says of `address`; an empty finding where it says nothing. */
  find(address: Address): Finding
  /** Where networks of IPv4 begin that are not told the same as the one before; in order. */
  ipv4Starts(): Uint32Array
  /** Number of different records. Walks the whole tree. */
  countRecords(): number
}

export interface OpenOptions {
  /** Map the file into memory rather than read it: only for files that nobody rewrites. */
  readonly map: boolean
  readonly regionCode: RegionCode
  /** Up to 2^bits findings are kept, in 256 bytes each; default: 16, 16 MB once all are used. */
  readonly cacheBits?: number | undefined
  /** Name to show; default: that of the file. */
  readonly name?: string
}

/** Opens and checks the database at `path`. Throws an error that names it and the reason. */
export async function openDatabase(path: string, options: OpenOptions): Promise<GeoDatabase> {
  try {
    const { bytes, residence } = await openBytes(path, options.map)
    const mmdb = openMmdb(bytes)
    const schema = chooseSchema(mmdb)
    checkRecords(mmdb)
    const name = options.name ?? basename(path).replace(/\.mmdb$/, '')
    return {
      name,
      provider: providerOf(schema, mmdb.metadata, name),
      metadata: mmdb.metadata,
      residence,
      bytes: bytes.length,
      find: createFinder(mmdb, schema, options),
      ipv4Starts: () => mmdb.ipv4Starts(),
      countRecords: () => [...mmdb.offsets(Number.POSITIVE_INFINITY)].length,
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`Cannot use the database ${path}: ${reason}`, { cause })
  }
}

/** Files of ip-location-db do not say whose data they hold, but are named after it. */
function providerOf(schema: Schema, metadata: MmdbMetadata, name: string): string {
  const told = schema.provider(metadata)
  if (told !== undefined) return told
  const named = /dbip|geolite2|ipinfo/i.exec(name)?.[0].toLowerCase()
  if (named !== undefined) return named === 'geolite2' ? 'maxmind' : named
  return name.toLowerCase().replaceAll(/[^a-z0-9.-]+/g, '-')
}

const PROBE_RECORDS = 1_000

/** A file cut or overwritten in its data shows it in the records that its tree reaches first. */
function checkRecords(mmdb: Mmdb): void {
  for (const offset of mmdb.offsets(PROBE_RECORDS)) mmdb.decode(offset)
}

/**
 * Keeps findings by the offset of their record. A damaged record that the probe did not meet
 * counts as no record, so that a look-up never throws.
 */
function createFinder(mmdb: Mmdb, schema: Schema, { regionCode, cacheBits = 16 }: OpenOptions) {
  const findings = new CardCache(cacheBits)
  const read = (offset: number): Finding => {
    try {
      return schema.read(asMap(mmdb.decode(offset)), regionCode)
    } catch {
      return NOTHING
    }
  }
  return (address: Address): Finding => {
    const offset = mmdb.find(address)
    if (offset === 0) return NOTHING
    const known = findings.get(offset)
    if (known !== undefined) return known
    const finding = read(offset)
    findings.put(offset, finding)
    return finding
  }
}
