import { addValue, createDataSection, type DataSection } from './mmdb-encode.ts'
import { isNode, LEAF, NOTHING, reachableNodes, type SearchTree } from './mmdb-tree.ts'
import { type MmdbValue, Uint16 } from './mmdb-value.ts'

export interface MmdbOptions {
  readonly databaseType: string
  /** In English. */
  readonly description: string
  /** Epoch milliseconds. */
  readonly builtAt: number
  /** A file of version 6 holds IPv4 networks too, at ::a.b.c.d. */
  readonly ipVersion: 4 | 6
  /** Locales of the names in the records; `en` unless told. */
  readonly languages?: readonly string[]
  /** Bits of a slot in the search tree; the smallest that fits unless told. */
  readonly recordSize?: RecordSize
}

export type RecordSize = 24 | 28 | 32

const SEPARATOR_BYTES = 16
const MARKER = Uint8Array.of(0xab, 0xcd, 0xef, ...new TextEncoder().encode('MaxMind.com'))

/** The file: search tree, separator, the records that are in use, marker, metadata. */
export function mmdbFile(
  options: MmdbOptions,
  tree: SearchTree,
  records: readonly MmdbValue[],
): Uint8Array<ArrayBuffer> {
  const nodes = reachableNodes(tree)
  const data = createDataSection('pointers')
  const slots = fileSlots(tree, nodes, dataOffsets(data, records))
  const recordSize = fittingSize(slots, options.recordSize)
  const parts = [
    searchTree(slots, recordSize),
    new Uint8Array(SEPARATOR_BYTES),
    data.bytes.subarray(0, data.length),
    MARKER,
    metadata(options, nodes.length, recordSize),
  ]
  return joined(parts)
}

/** Where a record is in the data section; it is written there the first time it is asked for. */
function dataOffsets(data: DataSection, records: readonly MmdbValue[]): (record: number) => number {
  const offsets = new Map<number, number>()
  return (record) => {
    const known = offsets.get(record)
    if (known !== undefined) return known
    const offset = addValue(data, records[record] ?? '')
    offsets.set(record, offset)
    return offset
  }
}

/** What the file says for each slot: a node, the node count for nothing, or behind it the data. */
function fileSlots(
  tree: SearchTree,
  nodes: Uint32Array,
  offsetOf: (record: number) => number,
): Float64Array {
  const numbers = new Uint32Array(tree.nodeCount)
  nodes.forEach((node, number) => {
    numbers[node] = number
  })
  const fileSlot = (slot: number): number => {
    if (isNode(slot)) return numbers[slot] ?? 0
    return slot === NOTHING ? nodes.length : nodes.length + SEPARATOR_BYTES + offsetOf(slot - LEAF)
  }
  const slots = new Float64Array(nodes.length * 2)
  nodes.forEach((node, number) => {
    slots[number * 2] = fileSlot(tree.slots[node * 2] ?? NOTHING)
    slots[number * 2 + 1] = fileSlot(tree.slots[node * 2 + 1] ?? NOTHING)
  })
  return slots
}

function fittingSize(slots: Float64Array, wanted: RecordSize | undefined): RecordSize {
  const largest = slots.reduce((a, b) => Math.max(a, b))
  const sizes: readonly RecordSize[] = wanted === undefined ? [24, 28, 32] : [wanted]
  const size = sizes.find((bits) => largest < 2 ** bits)
  if (size !== undefined) return size
  throw new RangeError(`Cannot write the search tree: ${largest} is over ${sizes.at(-1)} bits`)
}

function searchTree(slots: Float64Array, recordSize: RecordSize): Uint8Array {
  const nodeBytes = recordSize / 4
  const bytes = new Uint8Array((slots.length / 2) * nodeBytes)
  const view = new DataView(bytes.buffer)
  const writeNode = NODE_WRITERS[recordSize]
  for (let node = 0; node < slots.length / 2; node++) {
    writeNode(view, node * nodeBytes, slots[node * 2] ?? 0, slots[node * 2 + 1] ?? 0)
  }
  return bytes
}

type NodeWriter = (view: DataView, at: number, left: number, right: number) => void

const NODE_WRITERS: Record<RecordSize, NodeWriter> = {
  24: (view, at, left, right) => {
    view.setUint16(at, left >>> 8)
    view.setUint8(at + 2, left)
    view.setUint16(at + 3, right >>> 8)
    view.setUint8(at + 5, right)
  },
  // The highest four bits of both share the byte in the middle.
  28: (view, at, left, right) => {
    view.setUint32(at, (left << 8) | ((left >>> 20) & 0xf0) | (right >>> 24))
    view.setUint16(at + 4, right >>> 8)
    view.setUint8(at + 6, right)
  },
  32: (view, at, left, right) => {
    view.setUint32(at, left)
    view.setUint32(at + 4, right)
  },
}

/** Without pointers, as MaxMind writes it. */
function metadata(options: MmdbOptions, nodeCount: number, recordSize: RecordSize): Uint8Array {
  const section = createDataSection('no pointers')
  addValue(section, {
    node_count: nodeCount,
    record_size: new Uint16(recordSize),
    ip_version: new Uint16(options.ipVersion),
    database_type: options.databaseType,
    languages: options.languages ?? ['en'],
    binary_format_major_version: new Uint16(2),
    binary_format_minor_version: new Uint16(0),
    build_epoch: BigInt(Math.floor(options.builtAt / 1000)),
    description: { en: options.description },
  })
  return section.bytes.subarray(0, section.length)
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((size, part) => size + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
