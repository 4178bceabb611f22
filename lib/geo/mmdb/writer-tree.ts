import { type Address, commonBits, type Words } from '../../parts/net/address.ts'

/**
 * The tree of a database that is being written: a binary tree over the bits of an address, numbered from 0
 * to 127. IPv4 addresses use bits 96 to 127, as in ::a.b.c.d. Siblings with the same record are always merged.
 */
export interface WriterTree {
  /** Two per node. Each is NO_RECORD, the number of a node, or LEAF + the number of a record. */
  slots: Uint32Array
  nodeCount: number
  /** The bit that the root, node 0, decides: 96 in an IPv4 tree. */
  readonly top: number
  /** The nodes on the path to the last network that was set, by bit. */
  readonly path: Uint32Array
  /** The bit that the last node of the path decides. */
  pathEnd: number
  pathWords: Words
}

/** The addresses that share the bits before `at` with `words` and have `bit` there. */
interface Branch {
  readonly words: Words
  readonly at: number
  readonly bit: number
}

/** The root, node 0, is never a child, so its number is free. */
export const NO_RECORD = 0
export const LEAF = 0x8000_0000

export function createWriterTree(ipVersion: 4 | 6): WriterTree {
  const top = ipVersion === 4 ? 96 : 0
  const path = new Uint32Array(128)
  const slots = new Uint32Array(2048)
  return { slots, nodeCount: 1, top, path, pathEnd: top, pathWords: [0, 0, 0, 0] }
}

export function treeWords(address: Address): Words {
  return address.version === 4 ? [0, 0, 0, address.bits >>> 0] : address.words
}

/** Sets the record of a network. `prefix` counts bits of the tree: 96 more for IPv4. */
export function setNetwork(tree: WriterTree, words: Words, prefix: number, record: number): void {
  for (const branch of networkBranches(words, prefix, tree.top)) setBranch(tree, branch, record)
}

/** Sets the record of all addresses from `first` to `last`, which must not be before `first`. */
export function setRange(tree: WriterTree, first: Words, last: Words, record: number): void {
  for (const branch of rangeBranches(first, last, tree.top)) setBranch(tree, branch, record)
}

/** Starts at the last node shared with the previous path: near its end if networks are sorted. */
function setBranch(tree: WriterTree, branch: Branch, record: number): void {
  const leaf = LEAF + record
  const known = Math.min(branch.at, tree.pathEnd, commonBits(branch.words, tree.pathWords))
  tree.pathWords = branch.words
  tree.pathEnd = Math.max(known, tree.top)
  let node = tree.path[tree.pathEnd] ?? 0
  while (tree.pathEnd < branch.at) {
    const slot = node * 2 + bitOf(branch.words, tree.pathEnd)
    const child = tree.slots[slot] ?? NO_RECORD
    if (child === leaf) return
    node = isNode(child) ? child : split(tree, slot)
    tree.path[++tree.pathEnd] = node
  }
  tree.slots[node * 2 + branch.bit] = leaf
  mergeUp(tree)
}

function split(tree: WriterTree, slot: number): number {
  const node = tree.nodeCount++
  if (node * 2 === tree.slots.length) {
    const grown = new Uint32Array(tree.slots.length * 2)
    grown.set(tree.slots)
    tree.slots = grown
  }
  const whole = tree.slots[slot] ?? NO_RECORD
  tree.slots.fill(whole, node * 2, node * 2 + 2)
  tree.slots[slot] = node
  return node
}

/** Replaces nodes that have the same leaf on both sides with the leaf, except the root. */
function mergeUp(tree: WriterTree): void {
  while (tree.pathEnd > tree.top) {
    const node = tree.path[tree.pathEnd] ?? 0
    const leaf = tree.slots[node * 2] ?? NO_RECORD
    if (leaf !== tree.slots[node * 2 + 1]) return
    const parent = tree.path[--tree.pathEnd] ?? 0
    tree.slots[parent * 2 + bitOf(tree.pathWords, tree.pathEnd)] = leaf
  }
}

/** The nodes in use, parents before children and left before right. */
export function reachableNodes(tree: WriterTree): Uint32Array {
  const order = new Uint32Array(tree.nodeCount)
  const waiting = [0]
  let count = 0
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    order[count++] = node
    for (const slot of [node * 2 + 1, node * 2]) {
      const child = tree.slots[slot] ?? NO_RECORD
      if (isNode(child)) waiting.push(child)
    }
  }
  return order.subarray(0, count)
}

export function isNode(slot: number): boolean {
  return slot !== NO_RECORD && slot < LEAF
}

function networkBranches(words: Words, prefix: number, top: number): Branch[] {
  if (prefix > top) return [{ words, at: prefix - 1, bit: bitOf(words, prefix - 1) }]
  return [0, 1].map((bit) => ({ words, at: top, bit }))
}

/**
 * The fewest networks that cover a range. After the first bit where the ends differ, these are the
 * 1-branches off the path to `first`, the 0-branches off the path to `last`, and the largest
 * networks that begin with `first` or end with `last`.
 */
function rangeBranches(first: Words, last: Words, top: number): Branch[] {
  const fork = commonBits(first, last)
  const start = 128 - trailingZeros(first)
  const end = 128 - trailingZeros(inverted(last))
  if (start <= fork && end <= fork) return networkBranches(first, fork, top)
  return [...branchesOff(first, fork + 1, start, 1), ...branchesOff(last, fork + 1, end, 0)]
}

function branchesOff(words: Words, from: number, to: number, bit: number): Branch[] {
  const at = Math.max(from, to) - 1
  const branches: Branch[] = [{ words, at, bit: bitOf(words, at) }]
  for (let other = from; other < to; other++) {
    if (bitOf(words, other) !== bit) branches.push({ words, at: other, bit })
  }
  return branches
}

function bitOf(words: Words, at: number): number {
  return ((words[at >>> 5] ?? 0) >>> (31 - (at & 31))) & 1
}

function trailingZeros(words: Words): number {
  const word = words.findLastIndex((bits) => bits !== 0)
  if (word === -1) return 128
  const bits = words[word] ?? 0
  return (3 - word) * 32 + 31 - Math.clz32(bits & -bits)
}

function inverted([a, b, c, d]: Words): Words {
  return [~a >>> 0, ~b >>> 0, ~c >>> 0, ~d >>> 0]
}
