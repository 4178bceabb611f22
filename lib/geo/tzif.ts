import { readFileSync, statSync } from 'node:fs'
import { type PosixTz, parsePosixTz, posixOffset } from './posix-tz.ts'

/** A compiled zone file. Times are epoch seconds, offsets seconds east of UTC. */
export interface Tzif {
  /** Holds before the first transition. */
  readonly first: number
  readonly transitions: readonly Transition[]
  /** Holds from the last transition on. */
  readonly rest?: PosixTz
}

interface Transition {
  readonly time: number
  readonly offset: number
}

/** Where the parts of a data block lie. */
interface Block {
  readonly timeSize: 4 | 8
  readonly timeCount: number
  readonly typeCount: number
  readonly times: number
  readonly typeIndexes: number
  readonly types: number
  readonly end: number
}

// The largest zone files have 4 kB.
const MAX_FILE_BYTES = 65_536
const MAGIC = 0x545a6966 // TZif
const HEADER_BYTES = 44
const TYPE_BYTES = 6
// RFC 9636 section 3.2: more than -25 and less than 26 hours.
const MIN_OFFSET = -89_999
const MAX_OFFSET = 93_599
const FOOTER = /^\n([^\n]*)\n/
const latin1 = new TextDecoder('latin1')

/** Reads the zone file at `path`; undefined where there is none or `parseTzif` refuses it. */
export function readTzif(path: string): Tzif | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (!stats?.isFile() || stats.size > MAX_FILE_BYTES) return undefined
    return parseTzif(readFileSync(path))
  } catch {
    return undefined // not readable, or a name that the file system refuses
  }
}

/**
 * Parses a TZif file (RFC 9636), its 64-bit data where it has them. Undefined for bytes that are
 * not one, and for files that count leap seconds, which epoch times do not.
 */
export function parseTzif(bytes: Uint8Array): Tzif | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const old = readBlock(view, 0, 4)
  if (old === undefined || view.getUint8(4) === 0) return old && readTransitions(view, old)

  const block = readBlock(view, old.end, 8)
  const data = block && readTransitions(view, block)
  if (block === undefined || data === undefined) return undefined
  const footer = FOOTER.exec(latin1.decode(bytes.subarray(block.end)))
  if (footer?.[1] === '') return data
  const rest = footer?.[1] === undefined ? undefined : parsePosixTz(footer[1])
  return rest && { ...data, rest }
}

/** The offset at `time`, by the rules of RFC 9636 section 3.2. */
export function tzifOffset({ first, transitions, rest }: Tzif, time: number): number {
  let low = 0
  let high = transitions.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((transitions[middle]?.time ?? 0) <= time) low = middle + 1
    else high = middle
  }
  if (low === transitions.length && rest !== undefined) return posixOffset(rest, time)
  return transitions[low - 1]?.offset ?? first
}

function readBlock(view: DataView, start: number, timeSize: 4 | 8): Block | undefined {
  if (view.byteLength < start + HEADER_BYTES || view.getUint32(start) !== MAGIC) return undefined
  const count = (index: number) => view.getUint32(start + 20 + index * 4)
  const [utCount, standardCount, leapCount] = [count(0), count(1), count(2)]
  const [timeCount, typeCount, nameBytes] = [count(3), count(4), count(5)]
  const times = start + HEADER_BYTES
  const typeIndexes = times + timeCount * timeSize
  const types = typeIndexes + timeCount
  const end = types + typeCount * TYPE_BYTES + nameBytes + standardCount + utCount
  if (leapCount > 0 || end > view.byteLength) return undefined
  return { timeSize, timeCount, typeCount, times, typeIndexes, types, end }
}

function readTransitions(view: DataView, block: Block): Tzif | undefined {
  const first = readOffset(view, block, 0)
  if (first === undefined) return undefined
  const transitions: Transition[] = []
  let previous = Number.NEGATIVE_INFINITY
  for (let index = 0; index < block.timeCount; index++) {
    const time = readTime(view, block, index)
    const offset = readOffset(view, block, view.getUint8(block.typeIndexes + index))
    if (offset === undefined || time <= previous) return undefined
    transitions.push({ time, offset })
    previous = time
  }
  return { first, transitions }
}

function readTime(view: DataView, { times, timeSize }: Block, index: number): number {
  const at = times + index * timeSize
  return timeSize === 4 ? view.getInt32(at) : Number(view.getBigInt64(at))
}

function readOffset(view: DataView, block: Block, type: number): number | undefined {
  if (type >= block.typeCount) return undefined
  const offset = view.getInt32(block.types + type * TYPE_BYTES)
  return offset < MIN_OFFSET || offset > MAX_OFFSET ? undefined : offset
}
