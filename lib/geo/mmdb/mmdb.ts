import * as v from 'valibot'
import type { Address } from '../../parts/net/address.ts'
import { MmdbDecoder } from './decoder.ts'
import { describeForeign } from './foreign-file.ts'
import { matchedBits } from './matched-bits.ts'
import { branchesOf, findRecord, readTree, walkIpv4, walkOffsets } from './search-tree.ts'

/** A MaxMind DB, format 2.0: https://maxmind.github.io/MaxMind-DB/ */
export type Mmdb = ReturnType<typeof openMmdb>

const MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')
const MARKER_WITHIN = 128 * 1024
const SEPARATOR_BYTES = 16
/** Small, because most values that records share are countries and regions. */
const NAMES_CACHE_BITS = 10

/** Opens the database in `bytes`. Throws an error with the reason if `bytes` are not a database. */
export function openMmdb(bytes: Buffer) {
  const end = bytes.lastIndexOf(MARKER)
  if (end < 0 || end < bytes.length - MARKER_WITHIN - MARKER.length) {
    const foreign = describeForeign(bytes.subarray(0, 1_000))
    const reason = foreign === undefined ? 'the metadata marker is missing' : `it ${foreign}`
    throw new Error(`not a MaxMind DB: ${reason}`)
  }
  const metadata = readMetadata(bytes, end + MARKER.length)
  const treeBytes = (metadata.nodeCount * metadata.recordSize) / 4
  if (treeBytes + SEPARATOR_BYTES > end) {
    throw new Error('damaged: the search tree is larger than the file')
  }
  const decoder = new MmdbDecoder(bytes, treeBytes + SEPARATOR_BYTES)
  const namesDecoder = new MmdbDecoder(bytes, treeBytes + SEPARATOR_BYTES, {
    cacheBits: NAMES_CACHE_BITS,
    names: 'all',
  })
  const tree = readTree(bytes, metadata)
  const offsetOf = (record: number) => {
    const offset = record - metadata.nodeCount + treeBytes
    return record > metadata.nodeCount && offset >= treeBytes + SEPARATOR_BYTES && offset < end
      ? offset
      : 0
  }
  return {
    metadata,
    /** Offset of the record of `address` in the file; 0 if there is none. */
    find: (address: Address) => offsetOf(findRecord(tree, address)),
    /** See `matchedBits`. */
    matchedBits: (address: Address) => matchedBits(tree, address),
    /** Decodes the record at an offset that `find` returned. Throws if the data is damaged. */
    decode: (offset: number) => decoder.decode(offset),
    /** The same, but each map called `names` has the names in all languages. */
    decodeNames: (offset: number) => namesDecoder.decode(offset),
    /** First addresses of the IPv4 networks, in order; neighbours with the same record are joined. */
    ipv4Starts: () => walkIpv4(tree),
    /** The records of one IP version, for walks. */
    branches: (version: 4 | 6) => branchesOf(tree, version),
    /** The offset that a record of the tree leads to; 0 if none. */
    offsetOf,
    /** Offsets of records in tree order, each once, at most `limit`. */
    offsets: (limit: number) => walkOffsets(tree, offsetOf, limit),
  }
}

const count = v.pipe(v.number(), v.integer(), v.minValue(0))

/** The last millisecond of a Date; a build epoch may be any 64-bit number. */
const LAST_TIME = 8.64e15

const Metadata = v.pipe(
  v.object({
    binary_format_major_version: v.literal(2),
    database_type: v.string(),
    description: v.optional(v.record(v.string(), v.string()), {}),
    ip_version: v.picklist([4, 6]),
    record_size: v.picklist([24, 28, 32]),
    node_count: count,
    build_epoch: v.pipe(v.union([count, v.bigint()]), v.toNumber()),
  }),
  v.transform((raw) => ({
    databaseType: raw.database_type,
    description: raw.description['en'] ?? '',
    ipVersion: raw.ip_version,
    recordSize: raw.record_size,
    nodeCount: raw.node_count,
    /** Epoch milliseconds. */
    builtAt: Math.min(raw.build_epoch * 1000, LAST_TIME),
  })),
)
export type MmdbMetadata = v.InferOutput<typeof Metadata>

function readMetadata(bytes: Buffer, start: number): MmdbMetadata {
  const result = v.safeParse(Metadata, decodeMetadata(bytes, start))
  if (result.success) return result.output
  throw new Error('damaged: the metadata is not that of a MaxMind DB 2.0')
}

function decodeMetadata(bytes: Buffer, start: number): unknown {
  try {
    return new MmdbDecoder(bytes, start, { cacheBits: 4 }).decode(start)
  } catch (cause) {
    throw new Error('damaged: the metadata cannot be decoded', { cause })
  }
}
