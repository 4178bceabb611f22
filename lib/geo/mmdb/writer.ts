import type { Address, Words } from '../../parts/net/address.ts'
import type { Network } from '../../parts/net/network.ts'
import { type MmdbOptions, mmdbFile } from './file.ts'
import { contentKey, type MmdbValue } from './value.ts'
import { createWriterTree, setNetwork, setRange, treeWords } from './writer-tree.ts'

export type MmdbWriter = ReturnType<typeof createMmdbWriter>

/**
 * Collects networks and their records for a file in the MaxMind DB format 2.0. IPv4 networks are
 * not aliased at ::ffff:0:0/96 and 2002::/16. https://maxmind.github.io/MaxMind-DB/
 */
export function createMmdbWriter(options: MmdbOptions) {
  const tree = createWriterTree(options.ipVersion)
  const records: MmdbValue[] = []
  const numberOf = numberRecords(records)
  return {
    /**
     * Sets the record of all addresses of the network. Later insertions override earlier ones, so
     * insert broad networks first. Bits after the prefix are ignored. The record must not change
     * afterwards. Throws RangeError if the file cannot hold the network.
     */
    insert: (network: Network, record: MmdbValue) => {
      checkVersion(options, network.address)
      setNetwork(tree, treeWords(network.address), treePrefix(network), numberOf(record))
    },
    /** Sets the record of all addresses from `first` to `last`, with the fewest networks. */
    insertRange: (first: Address, last: Address, record: MmdbValue) => {
      checkVersion(options, first)
      const [start, end] = orderedWords(first, last)
      setRange(tree, start, end, numberOf(record))
    },
    /** The file with everything inserted so far. Throws RangeError if `recordSize` is too small. */
    toBytes: () => mmdbFile(options, tree, records),
  }
}

function checkVersion({ ipVersion }: MmdbOptions, { version, text }: Address): void {
  if (ipVersion === 6 || version === 4) return
  throw new RangeError(`Cannot insert "${text}": the database is for IPv4 only`)
}

/** Length of the prefix in the tree, where all addresses have 128 bits. */
export function treePrefix({ address, prefix }: Network): number {
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

/** Returns a function that numbers records. It appends a record to `records` unless they hold an equal. */
function numberRecords(records: MmdbValue[]): (record: MmdbValue) => number {
  const numbers = new Map<string, number>()
  return (record) => {
    const key = contentKey(record)
    const known = numbers.get(key)
    if (known !== undefined) return known
    const number = records.push(record) - 1
    numbers.set(key, number)
    return number
  }
}
