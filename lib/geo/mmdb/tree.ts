import type { Address, Words } from '../address.ts'

/**
 * A binary tree over the bits of an address, numbered 0 to 127; an IPv4 address has the bits 96 to
 * 127 of ::a.b.c.d. Siblings with the same record are always merged.
 */
export interface SearchTree {
  /** Two per node. NOTHING, the number of a node, or LEAF + the number of a record. */
  slots: Uint32Array
  nodeCount: number
  /** The bit that the root, node 0, decides: 96 in an IPv4 tree. */
  readonly top: number
  /** The node that decides each bit on the way to the last network placed, and where that ends. */
  readonly path: Uint32Array
  pathEnd: number
  pathWords: Words
}

/** The addresses that share the bits before `at` with `words` and have `bit` there. */
interface Branch {
  readonly words: Words
  readonly at: number
  readonly bit: number
}

/** The root is nobody's child, so its number is free. */
export const NOTHING = 0
export const LEAF = 0x8000_0000

export function createSearchTree(ipVersion: 4 | 6): SearchTree {
  const top = ipVersion === 4 ? 96 : 0
  const path = new Uint32Array(128)
  const slots = new Uint32Array(2048)
  return { slots, nodeCount: 1, top, path, pathEnd: top, pathWords: [0, 0, 0, 0] }
}

export function treeWords(address: Address): Words {
  return address.version === 4 ? [0, 0, 0, address.bits >>> 0] : address.words
}

/** Puts the record on all addresses of a network whose prefix is counted in bits of the tree. */
export function placeNetwork(tree: SearchTree, words: Words, prefix: number, record: number): void {
  for (const branch of networkBranches(words, prefix, tree.top)) place(tree, branch, record)
}

/** Puts the record on all addresses from `first` to `last`; `first` must not be behind `last`. */
export function placeRange(tree: SearchTree, first: Words, last: Words, record: number): void {
  for (const branch of rangeBranches(first, last, tree.top)) place(tree, branch, record)
}

/** Starts where the way leaves that of the last network: for sorted networks near the end. */
function place(tree: SearchTree, branch: Branch, record: number): void {
  const leaf = LEAF + record
  const known = Math.min(branch.at, tree.pathEnd, commonBits(branch.words, tree.pathWords))
  tree.pathWords = branch.words
  tree.pathEnd = Math.max(known, tree.top)
  let node = tree.path[tree.pathEnd] ?? 0
  while (tree.pathEnd < branch.at) {
    const slot = node * 2 + bitOf(branch.words, tree.pathEnd)
    const child = tree.slots[slot] ?? NOTHING
    if (child === leaf) return
    node = isNode(child) ? child : split(tree, slot)
    tree.path[++tree.pathEnd] = node
  }
  tree.slots[node * 2 + branch.bit] = leaf
  mergeUp(tree)
}

function split(tree: SearchTree, slot: number): number {
  const node = tree.nodeCount++
  if (node * 2 === tree.slots.length) {
    const grown = new Uint32Array(tree.slots.length * 2)
    grown.set(tree.slots)
    tree.slots = grown
  }
  const whole = tree.slots[slot] ?? NOTHING
  tree.slots.fill(whole, node * 2, node * 2 + 2)
  tree.slots[slot] = node
  return node
}

/** Replaces nodes that have the same leaf on both sides by the leaf; the root stays. */
function mergeUp(tree: SearchTree): void {
  while (tree.pathEnd > tree.top) {
    const node = tree.path[tree.pathEnd] ?? 0
    const leaf = tree.slots[node * 2] ?? NOTHING
    if (leaf !== tree.slots[node * 2 + 1]) return
    const parent = tree.path[--tree.pathEnd] ?? 0
    tree.slots[parent * 2 + bitOf(tree.pathWords, tree.pathEnd)] = leaf
  }
}

/** The nodes in use, parents before children and left before right. */
export function reachableNodes(tree: SearchTree): Uint32Array {
  const order = new Uint32Array(tree.nodeCount)
  const waiting = [0]
  let count = 0
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    order[count++] = node
    for (const slot of [node * 2 + 1, node * 2]) {
      const child = tree.slots[slot] ?? NOTHING
      if (isNode(child)) waiting.push(child)
    }
  }
  return order.subarray(0, count)
}

export function isNode(slot: number): boolean {
  return slot !== NOTHING && slot < LEAF
}

function networkBranches(words: Words, prefix: number, top: number): Branch[] {
  if (prefix > top) return [{ words, at: prefix - 1, bit: bitOf(words, prefix - 1) }]
  return [0, 1].map((bit) => ({ words, at: top, bit }))
}

/**
 * The fewest networks that cover a range. Behind the first bit where the ends differ these are the
 * 1-branches that leave the way to `first`, the 0-branches that leave the way to `last`, and the
 * largest networks that begin with `first` and end with `last`.
 */
function rangeBranches(first: Words, last: Words, top: number): Branch[] {
  const fork = commonBits(first, last)
  const start = 128 - trailingZeros(first)
  const end = 128 - trailingZeros(inverted(last))
  if (start <= fork && end <= fork) return networkBranches(first, fork, top)
  return [...leaving(first, fork + 1, start, 1), ...leaving(last, fork + 1, end, 0)]
}

function leaving(words: Words, from: number, to: number, bit: number): Branch[] {
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

function commonBits(a: Words, b: Words): number {
  const word = a.findIndex((bits, at) => bits !== b[at])
  return word === -1 ? 128 : word * 32 + Math.clz32((a[word] ?? 0) ^ (b[word] ?? 0))
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
