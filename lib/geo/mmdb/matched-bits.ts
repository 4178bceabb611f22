import { type Address, commonBits, type Words } from '../../parts/net/address.ts'
import { embeddedIpv4, isIpv4Compatible, WITHOUT_RECORDS } from '../../parts/net/embedded-ipv4.ts'
import { child, INDEX_BITS, recordOfUpperHalf, type Tree } from './search-tree.ts'

/**
 * How many of the leading bits of `address` decide what a look-up in the tree finds: all addresses
 * that begin with them lead to the same record, or to none.
 */
export function matchedBits(tree: Tree, address: Address): number {
  if (address.version === 4) return ipv4Bits(tree, address.bits)
  const { words } = address
  const embedded = embeddedIpv4(words)
  if (embedded?.isAlias) return embedded.start + ipv4Bits(tree, embedded.bits)
  const own = followOwn(tree, words)
  const bits = Math.max(own.bits, rangeBits(words))
  if (own.record > tree.nodeCount || embedded === null) return bits
  return Math.max(bits, embedded.start + ipv4Bits(tree, embedded.bits))
}

function ipv4Bits(tree: Tree, bits: number): number {
  const half = recordOfUpperHalf(tree, bits)
  const isDeeper = half < tree.nodeCount
  let record = isDeeper ? half : tree.ipv4Root
  let count = isDeeper ? INDEX_BITS : 0
  for (; record < tree.nodeCount && count < 32; count++) {
    record = child(tree, record, bits << count < 0 ? 1 : 0)
  }
  return count
}

/** The record of an IPv6 network. The IPv4 tree and ::/96 have none. */
function followOwn(tree: Tree, words: Words) {
  if (tree.ipVersion === 4 || isIpv4Compatible(words)) return { record: 0, bits: 0 }
  return follow(tree, words)
}

/** Follows the bits of the words from the root until the record is not a node. */
function follow(tree: Tree, words: Words) {
  let record = 0
  let bits = 0
  while (record < tree.nodeCount && bits < 128) {
    const word = words[bits >>> 5] ?? 0
    record = child(tree, record, word << (bits & 31) < 0 ? 1 : 0)
    bits++
  }
  return { record, bits }
}

/** Ranges of IPv6 that are looked up differently: see `embeddedIpv4` and `isIpv4Compatible`. */
const RANGES: typeof WITHOUT_RECORDS = [...WITHOUT_RECORDS, [[0x2002_0000, 0, 0, 0], 16]]

/** How many leading bits decide which of these ranges an address is in. */
function rangeBits(words: Words): number {
  return Math.max(...RANGES.map(([range, bits]) => Math.min(commonBits(range, words) + 1, bits)))
}
