import type { Address, Words } from '../address.ts'
import type { Network } from '../network.ts'
import { type MmdbOptions, mmdbFile } from './mmdb-file.ts'
import { createSearchTree, placeNetwork, placeRange, treeWords } from './mmdb-tree.ts'
import { contentKey, type MmdbValue } from './mmdb-value.ts'

export interface MmdbWriter {
  /**
   * Gives all addresses of the network the record instead of what they had: what is inserted later
   * hides what was there, so insert broad networks first. Bits behind the prefix are ignored. The
   * record must not change afterwards. Throws RangeError if the file cannot hold the network.
   */
  insert(network: Network, record: MmdbValue): void
  /** The same for all addresses from `first` to `last`, as the fewest networks. */
  insertRange(first: Address, last: Address, record: MmdbValue): void
  /** The file as it would be now. Throws RangeError if `recordSize` is too small for it. */
  toBytes(): Uint8Array<ArrayBuffer>
}

/**
 * Collects networks and their records for a file in the MaxMind DB format 2.0. IPv4 networks are
 * not aliased at ::ffff:0:0/96 and 2002::/16. https://maxmind.github.io/MaxMind-DB/
 */
export function createMmdbWriter(options: MmdbOptions): MmdbWriter {
  const tree = createSearchTree(options.ipVersion)
  const records = createRecords()
  return {
    insert(network, record) {
      checkVersion(options, network.address)
      placeNetwork(tree, treeWords(network.address), treePrefix(network), numberOf(records, record))
    },
    insertRange(first, last, record) {
      checkVersion(options, first)
      const [start, end] = orderedWords(first, last)
      placeRange(tree, start, end, numberOf(records, record))
    },
    toBytes: () => mmdbFile(options, tree, records.values),
  }
}

function checkVersion({ ipVersion }: MmdbOptions, { version, text }: Address): void {
  if (ipVersion === 6 || version === 4) return
  throw new RangeError(`Cannot insert "${text}": the database is for IPv4 only`)
}

function treePrefix({ address, prefix }: Network): number {
  const width = address.version === 4 ? 32 : 128
  if (!Number.isInteger(prefix) || prefix < 0 || prefix > width) {
    throw new RangeError(`Cannot insert "${address.text}/${prefix}": not a prefix of ${width} bits`)
  }
  return 128 - width + prefix
}

function orderedWords(first: Address, last: Address): [Words, Words] {
  if (first.version !== last.version) throw badRange(first, last, 'the IP versions differ')
  const start = treeWords(first)
  const end = treeWords(last)
  const differs = start.findIndex((word, at) => word !== end[at])
  if ((start[differs] ?? 0) > (end[differs] ?? 0)) {
    throw badRange(first, last, 'the last address lies before the first')
  }
  return [start, end]
}

function badRange(first: Address, last: Address, reason: string): RangeError {
  return new RangeError(`Cannot insert "${first.text}" to "${last.text}": ${reason}`)
}

/** Every record once. */
interface Records {
  readonly values: MmdbValue[]
  /** Numbers by the very value: spares the key for objects inserted again. */
  readonly byIdentity: Map<MmdbValue, number>
  readonly byContent: Map<string, number>
}

function createRecords(): Records {
  return { values: [], byIdentity: new Map(), byContent: new Map() }
}

function numberOf(records: Records, record: MmdbValue): number {
  const same = records.byIdentity.get(record)
  if (same !== undefined) return same
  const key = contentKey(record)
  const equal = records.byContent.get(key)
  if (equal !== undefined) return equal
  const number = records.values.push(record) - 1
  records.byIdentity.set(record, number)
  records.byContent.set(key, number)
  return number
}
