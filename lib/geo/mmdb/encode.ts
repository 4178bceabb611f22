import { contentKey, Double, isArray, type MmdbValue, storesAsInteger, Uint16 } from './value.ts'

/**
 * Values in the encoding of a MaxMind DB data section, one after the other. A repeated value is
 * stored as a pointer to the first one. https://maxmind.github.io/MaxMind-DB/, "Output Data Section"
 */
export interface DataSection {
  bytes: Uint8Array
  length: number
  /** The values written so far, by content key; null in a section without pointers. */
  readonly fields: Map<string, Field> | null
}

interface Field {
  readonly offset: number
  readonly size: number
}

/** Type numbers of the format; those above 7 take an extra byte. */
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
/** The base of pointers with one to four bytes after the control byte. */
const POINTER_BASES = [0, 2048, 526_336, 0]
const UTF8 = new TextEncoder()

export function createDataSection(use: 'pointers' | 'no pointers'): DataSection {
  return { bytes: new Uint8Array(4096), length: 0, fields: use === 'pointers' ? new Map() : null }
}

/** Writes the value unless the section already holds it. Returns its offset. */
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

/** Writes a value inside another one, as a pointer if that is shorter. */
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

/** Whether the value is of a kind that usually takes no more bytes than a pointer. */
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
  writeBytes(section, utf8)
}

function writeNumber(section: DataSection, value: number): void {
  if (!storesAsInteger(value)) writeDouble(section, value)
  else if (value < 0) writeInt32(section, value)
  else writeUint(section, TYPE.uint32, value)
}

/** Always takes four bytes: readers do not extend the sign of fewer. */
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
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
  writeControl(section, bytes.length > 8 ? TYPE.uint128 : TYPE.uint64, bytes.length)
  writeBytes(section, bytes)
}

function writeDouble(section: DataSection, value: number): void {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(value)
  writeControl(section, TYPE.double, bytes.length)
  writeBytes(section, bytes)
}

/** The control byte holds the offset's three highest bits, unless four bytes follow it. */
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

/** `size` counts bytes; for maps, pairs; for arrays, items. */
function writeControl(section: DataSection, type: number, size: number): void {
  if (size > MAX_SIZE) {
    throw new RangeError(`Cannot store a value of size ${size}: the limit is ${MAX_SIZE}`)
  }
  const [short, base, extra] = sizeClass(size)
  writeInteger(section, (type > 7 ? 0 : type << 5) | short, 1)
  if (type > 7) writeInteger(section, type - 7, 1)
  writeInteger(section, size - base, extra)
}

/** The control byte's five bits, the size that they mean, and the number of bytes for the rest. */
function sizeClass(size: number): [bits: number, base: number, bytes: number] {
  if (size < 29) return [size, size, 0]
  if (size < 285) return [29, 29, 1]
  return size < 65_821 ? [30, 285, 2] : [31, 65_821, 3]
}

function writeBytes(section: DataSection, bytes: Uint8Array): void {
  reserve(section, bytes.length)
  section.bytes.set(bytes, section.length)
  section.length += bytes.length
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
