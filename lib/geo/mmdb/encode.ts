import {
  contentKey,
  Double,
  isArray,
  type MmdbValue,
  storesAsInteger,
  Uint16,
} from './mmdb-value.ts'

/**
 * Values in the encoding of a MaxMind DB data section, one behind the other. What was written once
 * is pointed to after that. https://maxmind.github.io/MaxMind-DB/, "Output Data Section"
 */
export interface DataSection {
  bytes: Uint8Array
  length: number
  /** By content key; null in a section without pointers. */
  readonly fields: Map<string, Field> | null
}

interface Field {
  readonly offset: number
  readonly size: number
}

/** Numbers of the format; those above 7 take a byte of their own. */
const TYPE = {
  string: 2,
  double: 3,
  uint16: 5,
  uint32: 6,
  map: 7,
  int32: 8,
  uint64: 9,
  uint128: 10,
  array: 11,
  boolean: 14,
}

const MAX_SIZE = 65_821 + 0xffffff
/** What pointers with one to four bytes behind the control byte count from. */
const POINTER_BASES = [0, 2048, 526_336, 0]
const UTF8 = new TextEncoder()

export function createDataSection(use: 'pointers' | 'no pointers'): DataSection {
  return { bytes: new Uint8Array(4096), length: 0, fields: use === 'pointers' ? new Map() : null }
}

/** Writes the value unless it is there already and returns its offset in the section. */
export function addValue(section: DataSection, value: MmdbValue): number {
  const key = contentKey(value)
  return section.fields?.get(key)?.offset ?? writeField(section, value, key)
}

function writeField(section: DataSection, value: MmdbValue, key: string): number {
  const offset = section.length
  writeValue(section, value)
  section.fields?.set(key, { offset, size: section.length - offset })
  return offset
}

/** Writes a value inside of another one: as a pointer where that is shorter. */
function writeInner(section: DataSection, value: MmdbValue): void {
  const key = section.fields === null || isSmall(value) ? null : contentKey(value)
  const field = key === null ? undefined : section.fields?.get(key)
  if (field !== undefined && field.size > pointerSize(field.offset)) {
    writePointer(section, field.offset)
  } else if (field === undefined && key !== null) {
    writeField(section, value, key)
  } else {
    writeValue(section, value)
  }
}

/** At most as long as most pointers, so not worth remembering. */
function isSmall(value: MmdbValue): boolean {
  if (typeof value === 'number') return storesAsInteger(value)
  return typeof value === 'boolean' || value instanceof Uint16
}

function writeValue(section: DataSection, value: MmdbValue): void {
  if (typeof value === 'string') writeString(section, value)
  else if (typeof value === 'boolean') writeControl(section, TYPE.boolean, value ? 1 : 0)
  else if (typeof value === 'number') writeNumber(section, value)
  else if (typeof value === 'bigint') writeBigint(section, value)
  else if (value instanceof Double) writeDouble(section, value.value)
  else if (value instanceof Uint16) writeUint(section, TYPE.uint16, value.value)
  else if (isArray(value)) writeArray(section, value)
  else writeMap(section, Object.entries(value))
}

function writeArray(section: DataSection, items: readonly MmdbValue[]): void {
  writeControl(section, TYPE.array, items.length)
  for (const item of items) writeInner(section, item)
}

function writeMap(section: DataSection, entries: readonly [string, MmdbValue][]): void {
  writeControl(section, TYPE.map, entries.length)
  for (const [key, value] of entries) {
    writeInner(section, key)
    writeInner(section, value)
  }
}

function writeString(section: DataSection, value: string): void {
  const utf8 = UTF8.encode(value)
  writeControl(section, TYPE.string, utf8.length)
  reserve(section, utf8.length)
  section.bytes.set(utf8, section.length)
  section.length += utf8.length
}

function writeNumber(section: DataSection, value: number): void {
  if (!storesAsInteger(value)) writeDouble(section, value)
  else if (value < 0) writeInt32(section, value)
  else writeUint(section, TYPE.uint32, value)
}

/** In four bytes always: readers do not extend the sign of fewer. */
function writeInt32(section: DataSection, value: number): void {
  writeControl(section, TYPE.int32, 4)
  writeInteger(section, value, 4)
}

function writeUint(section: DataSection, type: number, value: number): void {
  const size = 4 - (Math.clz32(value) >>> 3)
  writeControl(section, type, size)
  writeInteger(section, value, size)
}

function writeBigint(section: DataSection, value: bigint): void {
  const hex = value === 0n ? '' : value.toString(16)
  const size = (hex.length + 1) >>> 1
  writeControl(section, size > 8 ? TYPE.uint128 : TYPE.uint64, size)
  const digits = hex.padStart(size * 2, '0')
  for (let at = 0; at < size * 2; at += 2) {
    writeInteger(section, Number.parseInt(digits.slice(at, at + 2), 16), 1)
  }
}

function writeDouble(section: DataSection, value: number): void {
  writeControl(section, TYPE.double, 8)
  reserve(section, 8)
  new DataView(section.bytes.buffer).setFloat64(section.length, value)
  section.length += 8
}

/** The control byte has the three highest bits of the offset, but not in front of four bytes. */
function writePointer(section: DataSection, offset: number): void {
  const rest = pointerSize(offset) - 1
  const value = offset - (POINTER_BASES[rest - 1] ?? 0)
  const high = rest === 4 ? 0 : value >>> (rest * 8)
  writeInteger(section, 0x20 | ((rest - 1) << 3) | high, 1)
  writeInteger(section, value, rest)
}

function pointerSize(offset: number): number {
  if (offset < 2048) return 2
  if (offset < 526_336) return 3
  return offset < 134_744_064 ? 4 : 5
}

/** The size is in bytes, for maps in pairs, for arrays in items. */
function writeControl(section: DataSection, type: number, size: number): void {
  if (size > MAX_SIZE) {
    throw new RangeError(`Cannot store a value of size ${size}: the limit is ${MAX_SIZE}`)
  }
  const [short, base, extra] = sizeClass(size)
  writeInteger(section, (type > 7 ? 0 : type << 5) | short, 1)
  if (type > 7) writeInteger(section, type - 7, 1)
  writeInteger(section, size - base, extra)
}

/** The five bits of the control byte, what they stand for, and the bytes that hold the rest. */
function sizeClass(size: number): [bits: number, base: number, bytes: number] {
  if (size < 29) return [size, size, 0]
  if (size < 285) return [29, 29, 1]
  return size < 65_821 ? [30, 285, 2] : [31, 65_821, 3]
}

function writeInteger(section: DataSection, value: number, size: number): void {
  reserve(section, size)
  for (let shift = (size - 1) * 8; shift >= 0; shift -= 8) {
    section.bytes[section.length++] = (value >>> shift) & 0xff
  }
}

function reserve(section: DataSection, size: number): void {
  const needed = section.length + size
  if (needed <= section.bytes.length) return
  const grown = new Uint8Array(Math.max(needed, section.bytes.length * 2))
  grown.set(section.bytes)
  section.bytes = grown
}
