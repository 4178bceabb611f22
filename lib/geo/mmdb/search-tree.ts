import type { Address, Words } from '../../parts/net/address.ts'
import { embeddedIpv4, isIpv4Compatible } from '../../parts/net/embedded-ipv4.ts'

/** The metadata of a tree. */
interface Shape {
  readonly ipVersion: 4 | 6
  readonly nodeCount: number
  readonly recordSize: 24 | 28 | 32
}

interface Nodes extends Omit<Shape, 'recordSize'> {
  readonly view: DataView
  readonly walk: Walk
}

/** The search tree of a database, ready for look-ups. */
export interface Tree extends Nodes {
  readonly ipv4Root: number
  /** The records that the first 16 bits of IPv4 addresses lead to; 0 until the first look-up. */
  readonly ipv4Index: Uint32Array
}

export const INDEX_BITS = 16

export function readTree(bytes: Buffer, { ipVersion, nodeCount, recordSize }: Shape): Tree {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const tree = { ipVersion, nodeCount, view, walk: WALK[recordSize] }
  return { ...tree, ipv4Root: ipv4Root(tree), ipv4Index: new Uint32Array(2 ** INDEX_BITS) }
}

/** The root of the IPv4 addresses: 96 zero bits deep in an IPv6 tree. */
function ipv4Root(tree: Nodes): number {
  if (tree.ipVersion === 4) return 0
  return walk32(tree, walk32(tree, walk32(tree, 0, 0), 0), 0)
}

/**
 * Follows the highest `count` bits of `bits` from the record `start` until the record is not a
 * node. One function per record size: a call per bit would cost more than the bit.
 */
type Walk = (
  tree: Pick<Nodes, 'view' | 'nodeCount'>,
  start: number,
  bits: number,
  count: number,
) => number

const WALK: Readonly<Record<Shape['recordSize'], Walk>> = {
  24: ({ view, nodeCount }, start, bits, count) => {
    let record = start
    for (let left = bits, n = 0; n < count && record < nodeCount; n++, left <<= 1) {
      const at = record * 6
      record = left >= 0 ? view.getUint32(at) >>> 8 : view.getUint32(at + 2) & 0xff_ff_ff
    }
    return record
  },
  28: ({ view, nodeCount }, start, bits, count) => {
    let record = start
    for (let left = bits, n = 0; n < count && record < nodeCount; n++, left <<= 1) {
      const at = record * 7
      if (left >= 0) {
        // The high four bits of the left record come after its low ones.
        const word = view.getUint32(at)
        record = (word >>> 8) | ((word & 0xf0) << 20)
      } else {
        record = view.getUint32(at + 3) & 0x0f_ff_ff_ff
      }
    }
    return record
  },
  32: ({ view, nodeCount }, start, bits, count) => {
    let record = start
    for (let left = bits, n = 0; n < count && record < nodeCount; n++, left <<= 1) {
      record = view.getUint32(record * 8 + (left >= 0 ? 0 : 4))
    }
    return record
  },
}

/** The record that the bits of `address` lead to; at most `nodeCount` if there is none. */
export function findRecord(tree: Tree, address: Address): number {
  if (address.version === 4) return findIpv4(tree, address.bits)
  const embedded = embeddedIpv4(address.words)
  if (embedded?.isAlias) return findIpv4(tree, embedded.bits)
  const own = findIpv6(tree, address.words)
  return own <= tree.nodeCount && embedded !== null ? findIpv4(tree, embedded.bits) : own
}

function findIpv4(tree: Tree, bits: number): number {
  return tree.walk(tree, recordOfUpperHalf(tree, bits), bits << INDEX_BITS, 32 - INDEX_BITS)
}

/**
 * The record that the first 16 bits of an address lead to. It is found once and kept: between two look-ups,
 * other work pushes the upper nodes of the tree out of the processor's caches.
 */
export function recordOfUpperHalf(tree: Tree, bits: number): number {
  const upper = bits >>> INDEX_BITS
  let record = tree.ipv4Index[upper] ?? 0
  if (record === 0) {
    record = tree.walk(tree, tree.ipv4Root, bits | 0, INDEX_BITS)
    tree.ipv4Index[upper] = record
  }
  return record
}

function findIpv6(tree: Tree, words: Words): number {
  // In an IPv4 tree, the first 32 bits would lead to the record of another host.
  if (tree.ipVersion === 4 || isIpv4Compatible(words)) return 0
  let record = 0
  for (const word of words) record = walk32(tree, record, word)
  return record
}

function walk32(tree: Nodes, start: number, bits: number): number {
  return tree.walk(tree, start, bits | 0, 32)
}

/** The records of one IP version, for walks. Below `nodeCount` they are nodes. */
export interface Branches {
  readonly root: number
  readonly nodeCount: number
  /** The left or right record of a node. */
  child(node: number, bit: 0 | 1): number
}

/** In IPv6, the root of IPv4 and its aliases count as empty. */
export function branchesOf(tree: Tree, version: 4 | 6): Branches {
  const { nodeCount, ipv4Root } = tree
  if (version === 4) {
    return { root: ipv4Root, nodeCount, child: (node, bit) => child(tree, node, bit) }
  }
  return {
    root: tree.ipVersion === 4 ? nodeCount : 0,
    nodeCount,
    child: (node, bit) => {
      const record = child(tree, node, bit)
      return record === ipv4Root && record < nodeCount ? nodeCount : record
    },
  }
}

/** The left or right record of a node. */
export function child(tree: Nodes, node: number, bit: 0 | 1): number {
  return tree.walk(tree, node, bit === 0 ? 0 : -1, 1)
}

/**
 * Offsets of records, depth first, left before right, each once. Enters each node once, since a
 * damaged tree may have cycles.
 */
export function* walkOffsets(
  tree: Nodes,
  offsetOf: (record: number) => number,
  limit: number,
): IterableIterator<number> {
  const { nodeCount } = tree
  const entered = new Uint8Array(Math.ceil(nodeCount / 8))
  const seen = new Set<number>()
  const open = [0]
  while (open.length > 0 && seen.size < limit) {
    const record = open.pop() ?? 0
    const offset = offsetOf(record)
    if (offset > 0 && !seen.has(offset)) {
      seen.add(offset)
      yield offset
    }
    if (record >= nodeCount || !enter(entered, record)) continue
    open.push(child(tree, record, 1), child(tree, record, 0))
  }
}

/** Sets the bit of `node`; returns false if it was already set. */
function enter(entered: Uint8Array, node: number): boolean {
  const byteAt = node >>> 3
  const bit = 1 << (node & 7)
  const before = entered[byteAt] ?? 0
  entered[byteAt] = before | bit
  return (before & bit) === 0
}

/**
 * First addresses of the IPv4 networks, in order; neighbours with the same record are joined. So the largest
 * block (CIDR) around an address without another start is the one that a look-up of it matches. Throws if a
 * damaged tree has cycles: each node may be entered only once.
 */
export function walkIpv4(tree: Tree): Uint32Array {
  const starts = new Uint32Array(tree.nodeCount + 1)
  let count = 0
  let entered = 0
  let before = -1
  const add = (record: number, start: number) => {
    if (record !== before) starts[count++] = start
    before = record
  }
  const walk = (record: number, start: number, depth: number) => {
    if (record >= tree.nodeCount || depth === 32) return add(record, start)
    if (++entered > tree.nodeCount) throw new Error('damaged: the search tree has a cycle')
    const [left, right] = [child(tree, record, 0), child(tree, record, 1)]
    walk(left, start, depth + 1)
    // The halves of a block have the same record only in an unusual tree. Look-ups match one half.
    if (left === right) before = -1
    walk(right, start + 2 ** (31 - depth), depth + 1)
  }
  walk(tree.ipv4Root, 0, 0)
  return starts.slice(0, count)
}
