import type { Words } from '../../parts/net/address.ts'
import { WITHOUT_RECORDS } from '../../parts/net/embedded-ipv4.ts'
import type { Mmdb } from '../mmdb/mmdb.ts'
import type { Branches } from '../mmdb/search-tree.ts'

/** The cache has 2^bits slots: many networks have the same record. */
const CACHE_BITS = 17

/** The networks of one database and IP version, with their autonomous systems. */
export interface SystemTree extends Branches {
  /** The number of the system that a record names; 0 if it names none. */
  asn(record: number): number
}

/** Receives the prefix of the first `bits` bits of `words`, which change after the call. */
export type AddPrefix = (words: Uint32Array, bits: number, asn: number) => void

/** The bits of an address, and the ranges without records. */
const FAMILIES = {
  4: { width: 32, ranges: [] },
  6: { width: 128, ranges: WITHOUT_RECORDS },
} as const

/** Nodes between two pauses: less than a millisecond, even if the record of each is decoded. */
const NODES_PER_STEP = 100
/** Instead of the number of a system: the node has branches, which must be walked. */
const BRANCHES = -1

/**
 * Walks through all trees at once, in the order of addresses, and adds the prefixes that have a
 * system: that of the first tree with one, as in a look-up. Yields often, so that callers can pause.
 * Throws if a damaged tree has cycles.
 */
export function* walkSystems(
  trees: readonly SystemTree[],
  version: 4 | 6,
  add: AddPrefix,
): Generator<void, void> {
  const { width, ranges } = FAMILIES[version]
  const words = new Uint32Array(width / 32)
  const path = openPath(trees, width)
  const mostVisits = trees.reduce((sum, { nodeCount }) => sum + nodeCount * 2, SPLIT_VISITS)
  let depth = 0
  for (let visits = 0; visits <= mostVisits; visits++) {
    if (visits % NODES_PER_STEP === 0) yield
    const asn = splitAround(ranges, words, depth, path.asn(depth))
    if (asn > 0) add(words, depth, asn)
    const goesDown = asn === BRANCHES && depth < width
    depth = goesDown ? depth + 1 : toNext(words, depth)
    if (depth === 0) return
    path.enter(depth, lastBit(words, depth))
  }
  throw new Error('damaged: the search tree has a cycle')
}

/** Returns the number of the autonomous system that the record at an offset names; 0 if none. */
export type ReadAsn = (offset: number) => number

export function createSystemTree(mmdb: Mmdb, version: 4 | 6, readAsn: ReadAsn): SystemTree {
  const offsets = new Uint32Array(2 ** CACHE_BITS)
  const asns = new Uint32Array(2 ** CACHE_BITS)
  return {
    ...mmdb.branches(version),
    asn: (record) => {
      const offset = mmdb.offsetOf(record)
      if (offset === 0) return 0
      // Fibonacci hashing spreads neighbouring offsets.
      const slot = Math.imul(offset, 0x9e3779b1) >>> (32 - CACHE_BITS)
      if (offsets[slot] !== offset) {
        offsets[slot] = offset
        asns[slot] = readAsn(offset)
      }
      return asns[slot] ?? 0
    },
  }
}

/** The nodes that `splitAround` adds: both halves at each bit of each range. */
const SPLIT_VISITS = 2 * WITHOUT_RECORDS.reduce((sum, [, bits]) => sum + bits, 1)

/** The records of all trees at each depth down to the current node. */
function openPath(trees: readonly SystemTree[], width: number) {
  const count = trees.length
  const records = new Uint32Array((width + 1) * count)
  for (const [at, { root }] of trees.entries()) records[at] = root
  return {
    /** Goes from the node above `depth` to its left or right side. */
    enter: (depth: number, bit: 0 | 1) => {
      for (let at = 0; at < count; at++) {
        const above = records[(depth - 1) * count + at] ?? 0
        const tree = trees[at]
        const isNode = tree !== undefined && above < tree.nodeCount
        records[depth * count + at] = isNode ? tree.child(above, bit) : above
      }
    },
    /** The system of the node at `depth`; 0 if it has none. */
    asn: (depth: number): number => {
      for (let at = 0; at < count; at++) {
        const record = records[depth * count + at] ?? 0
        const tree = trees[at]
        if (tree === undefined || record < tree.nodeCount) return BRANCHES
        const asn = tree.asn(record)
        if (asn > 0) return asn
      }
      return 0
    },
  }
}

/**
 * Returns 0 for a prefix within a range, and `asn` for one outside all ranges. For a prefix around a range, returns
 * `BRANCHES`, so that it is split.
 */
function splitAround(
  ranges: typeof WITHOUT_RECORDS,
  words: Uint32Array,
  depth: number,
  asn: number,
): number {
  for (const [range, bits] of ranges) {
    if (!sharesBits(words, range, Math.min(depth, bits))) continue
    if (depth >= bits) return 0
    return asn > 0 ? BRANCHES : asn
  }
  return asn
}

function sharesBits(words: Uint32Array, range: Words, bits: number): boolean {
  for (let at = 0; at * 32 < bits; at++) {
    const differing = (words[at] ?? 0) ^ (range[at] ?? 0)
    if (Math.clz32(differing) < Math.min(32, bits - at * 32)) return false
  }
  return true
}

/** Moves to the next branch on the right and returns its depth; 0 if there is none. */
function toNext(words: Uint32Array, depth: number): number {
  for (let at = depth - 1; at >= 0; at--) {
    const bit = 1 << (31 - (at & 31))
    const word = words[at >>> 5] ?? 0
    words[at >>> 5] = word ^ bit
    if ((word & bit) === 0) return at + 1
  }
  return 0
}

/** The last of the first `depth` bits. */
function lastBit(words: Uint32Array, depth: number): 0 | 1 {
  const at = depth - 1
  return (((words[at >>> 5] ?? 0) >>> (31 - (at & 31))) & 1) === 0 ? 0 : 1
}
