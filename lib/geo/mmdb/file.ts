import { addValue, createDataSection, type DataSection } from './encode.ts'
import { type MmdbValue, Uint16 } from './value.ts'
import { isNode, LEAF, NO_RECORD, reachableNodes, type WriterTree } from './writer-tree.ts'

export interface MmdbOptions {
  readonly databaseType: string
  /** In English. */
  readonly description: string
  /** Epoch milliseconds. */
  readonly builtAt: number
  /** A file of version 6 holds IPv4 networks too, at ::a.b.c.d. */
  readonly ipVersion: 4 | 6
  /** Locales of the names in the records; default: `en`. */
  readonly languages?: readonly string[]
  /** Bits per slot of the search tree; default: the smallest size that fits. */
  readonly recordSize?: RecordSize
}

export type RecordSize = 24 | 28 | 32

const SEPARATOR_BYTES = 16
const MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')

/** The file: search tree, separator, the records in use, marker, metadata. */
export function mmdbFile(
  options: MmdbOptions,
  tree: WriterTree,
  records: readonly MmdbValue[],
): Buffer<ArrayBuffer> {
  const nodes = reachableNodes(tree)
  const data = createDataSection('pointers')
  const slots = numberSlots(tree, nodes, dataOffsets(data, records))
  const recordSize = fittingSize(largestOf(slots, nodes), options.recordSize)
  return Buffer.concat([
    searchTree(slots, nodes, recordSize),
    new Uint8Array(SEPARATOR_BYTES),
    data.bytes.subarray(0, data.length),
    MARKER,
    metadata(options, nodes.length, recordSize),
  ])
}

/** Returns a function that writes a record unless it is already written, and returns its offset. */
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

/** Returns the numbers to write for the left and the right slot of a node. */
type Slots = (node: number) => readonly [left: number, right: number]

/**
 * Converts slots to the numbers of the format. A number below the node count means a node, the node
 * count itself means no record, and a larger number means a record.
 */
function numberSlots(
  tree: WriterTree,
  nodes: Uint32Array,
  offsetOf: (record: number) => number,
): Slots {
  const numbers = new Uint32Array(tree.nodeCount)
  nodes.forEach((node, number) => {
    numbers[node] = number
  })
  const fileSlot = (slot = NO_RECORD): number => {
    if (isNode(slot)) return numbers[slot] ?? 0
    return slot === NO_RECORD
      ? nodes.length
      : nodes.length + SEPARATOR_BYTES + offsetOf(slot - LEAF)
  }
  return (node) => [fileSlot(tree.slots[node * 2]), fileSlot(tree.slots[node * 2 + 1])]
}

function largestOf(slots: Slots, nodes: Uint32Array): number {
  return nodes.reduce((largest, node) => Math.max(largest, ...slots(node)), 0)
}

function fittingSize(largest: number, wanted: RecordSize | undefined): RecordSize {
  const sizes: readonly RecordSize[] = wanted === undefined ? [24, 28, 32] : [wanted]
  const size = sizes.find((bits) => largest < 2 ** bits)
  if (size !== undefined) return size
  throw new RangeError(
    `Cannot write the search tree: ${largest} needs more than ${sizes.at(-1)} bits`,
  )
}

function searchTree(slots: Slots, nodes: Uint32Array, recordSize: RecordSize): Uint8Array {
  const nodeBytes = recordSize / 4
  const bytes = new Uint8Array(nodes.length * nodeBytes)
  const view = new DataView(bytes.buffer)
  const writeNode = NODE_WRITERS[recordSize]
  nodes.forEach((node, number) => {
    writeNode(view, number * nodeBytes, ...slots(node))
  })
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
  // The middle byte holds the highest four bits of both.
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

/** Without pointers, as in MaxMind's files. */
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
