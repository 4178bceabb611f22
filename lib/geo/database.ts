import { basename } from 'node:path'
import type { Address } from '../parts/net/address.ts'
import { reasonOf } from '../parts/reason.ts'
import { mapInSlices } from '../parts/time-slices.ts'
import { createSystemTree, type ReadAsn } from './asn/walk.ts'
import { openBytes } from './files/mapped-file.ts'
import { asMap } from './mmdb/fields.ts'
import { type Mmdb, type MmdbMetadata, openMmdb } from './mmdb/mmdb.ts'
import { RecordCache } from './mmdb/record-cache.ts'
import { type LocationFinding, NO_FINDING } from './place/finding.ts'
import type { PlaceNames } from './place/names.ts'
import { systemNumber } from './place/network-owner.ts'
import { NO_OTHERS, type OtherCountries } from './place/other-countries.ts'
import { createPrivacyFinder } from './privacy/finding.ts'
import { chooseSchema } from './providers/choose.ts'
import { flatCity } from './providers/flat-city.ts'
import type { RegionCode, Schema } from './providers/schema.ts'

/** One open database file. */
export type GeoDatabase = Awaited<ReturnType<typeof openDatabase>>

export interface OpenOptions {
  /** Map the file into memory instead of reading it. Only for files that are never rewritten. */
  readonly map: boolean
  readonly regionCode: RegionCode
  /** The cache holds up to 2^cacheBits findings; default: 16. */
  readonly cacheBits?: number | undefined
  /** Name to show; default: the file name without its extension. */
  readonly name?: string
}

/** Opens and checks the database at `path`. Throws an error that names it and the reason. */
export async function openDatabase(path: string, options: OpenOptions) {
  try {
    const { bytes, loadedBy } = await openBytes(path, options.map)
    const mmdb = openMmdb(bytes)
    const schema = chooseSchema(mmdb)
    const name = options.name ?? basename(path).replace(/\.mmdb$/, '')
    const provider = providerOf(schema, mmdb.metadata, name)
    const readAsn = createReadAsn(mmdb, schema)
    const records = await probeRecords(mmdb, schema, readAsn)
    return {
      /** By default, the file name without its extension. */
      name,
      /** Short name of the provider: maxmind, dbip, ipinfo. */
      provider,
      /** What the provider calls the data, such as GeoLite2-City: a provider may sell several. */
      product: productOf(schema, mmdb.metadata, name),
      metadata: mmdb.metadata,
      loadedBy,
      bytes: bytes.length,
      /** Returns the content of the record of an address; an empty finding if there is none. */
      find: createFinder(mmdb, schema, options),
      /** What the records describe. Default answers read only databases that describe places. */
      subject: schema.privacy === undefined ? ('place' as const) : ('privacy' as const),
      /** Returns what the record of an address states about privacy; undefined if nothing. */
      findPrivacy: createPrivacyFinder(mmdb, schema, provider),
      /** Returns the names of the record of an address in all languages; undefined if it has none. */
      findNames: (address: Address) => readNames(mmdb, schema, address),
      /** Returns which other countries the record of an address names; undefined if the layout has none. */
      findOthers: (address: Address) => readOthers(mmdb, schema, address),
      /** Whether one of the first records names another country. */
      knowsOthers: records.some(({ isOther }) => isOther),
      /** See `Mmdb`. */
      matchedBits: mmdb.matchedBits,
      ipv4Starts: mmdb.ipv4Starts,
      /** Whether the first records name autonomous systems. Always true for an overlay: any record may. */
      knowsSystems: provider === 'overlay' || records.some(({ asn }) => asn > 0),
      /** The networks of one IP version with their autonomous systems, for a walk. */
      systems: (version: 4 | 6) => createSystemTree(mmdb, version, readAsn),
      /** Number of different records. Walks the whole tree. */
      countRecords: () => [...mmdb.offsets(Number.POSITIVE_INFINITY)].length,
    }
  } catch (cause) {
    throw new Error(`Cannot use the database ${path}: ${reasonOf(cause)}`, { cause })
  }
}

/** Where the metadata does not state the provider, as in ip-location-db's flat files, the name of the file does. */
function providerOf(schema: Schema, metadata: MmdbMetadata, name: string): string {
  const stated = schema.provider(metadata)
  if (stated !== undefined) return stated
  const named = /dbip|geolite2|ipinfo/i.exec(name)?.[0].toLowerCase()
  if (named !== undefined) return named === 'geolite2' ? 'maxmind' : named
  return name.toLowerCase().replaceAll(/[^a-z0-9.-]+/g, '-')
}

/** ip-location-db's copy of DB-IP City Lite has another type. */
function productOf(schema: Schema, { databaseType }: MmdbMetadata, name: string): string {
  const isCopy = schema === flatCity && /^dbip-city(-ipv[46])?$/.test(name)
  return isCopy ? 'DBIP-City-Lite' : databaseType
}

const PROBE_RECORDS = 1_000

/**
 * Returns the autonomous systems of the first records, and whether these name other countries. Throws if one cannot
 * be decoded, as in a file that is cut off or overwritten.
 */
function probeRecords(mmdb: Mmdb, schema: Schema, readAsn: ReadAsn) {
  return mapInSlices([...mmdb.offsets(PROBE_RECORDS)], (offset) => {
    const record = asMap(mmdb.decode(offset))
    const { registered, represented } = schema.others?.(record) ?? NO_OTHERS
    const isOther = registered !== undefined || represented !== undefined
    return { asn: readAsn(offset), isOther }
  })
}

/** Returns 0 for a damaged record. */
function createReadAsn(mmdb: Mmdb, schema: Schema): ReadAsn {
  return (offset) => {
    try {
      return systemNumber(schema.asn?.(asMap(mmdb.decode(offset))))
    } catch {
      return 0
    }
  }
}

/**
 * Caches findings by the offset of their record. A damaged record that `probeRecords` did not reach
 * counts as no record, so that a look-up never throws.
 */
function createFinder(mmdb: Mmdb, schema: Schema, { regionCode, cacheBits = 16 }: OpenOptions) {
  const findings = new RecordCache<LocationFinding>(cacheBits)
  const read = (offset: number): LocationFinding => {
    try {
      return schema.read(asMap(mmdb.decode(offset)), regionCode)
    } catch {
      return NO_FINDING
    }
  }
  return (address: Address): LocationFinding => {
    const offset = mmdb.find(address)
    if (offset === 0) return NO_FINDING
    const known = findings.get(offset)
    if (known !== undefined) return known
    const finding = read(offset)
    findings.offer(offset, finding)
    return finding
  }
}

/** Returns undefined if the names are damaged. */
function readNames(mmdb: Mmdb, schema: Schema, address: Address): PlaceNames | undefined {
  const offset = schema.names === undefined ? 0 : mmdb.find(address)
  if (offset === 0) return undefined
  try {
    return schema.names?.(asMap(mmdb.decodeNames(offset)))
  } catch {
    return undefined
  }
}

/** Returns undefined if the record is damaged. */
function readOthers(mmdb: Mmdb, schema: Schema, address: Address): OtherCountries | undefined {
  const offset = schema.others === undefined ? 0 : mmdb.find(address)
  if (offset === 0) return undefined
  try {
    return schema.others?.(asMap(mmdb.decode(offset)))
  } catch {
    return undefined
  }
}
