/**
 * A value in a record. An integer from 0 to 2^32-1 is stored as uint32, one from -2^31 to -1 as
 * int32, any other finite number as a double; a bigint as uint64, from 2^64 on as uint128.
 */
export type MmdbValue =
  | string
  | boolean
  | number
  | bigint
  | Double
  | Uint16
  | readonly MmdbValue[]
  | { readonly [key: string]: MmdbValue }

/** A number stored as a double, even if it is an integer or not finite. */
export class Double {
  readonly type = 'double'
  readonly value: number
  constructor(value: number) {
    this.value = value
  }
}

/** An integer from 0 to 65535, stored as uint16. */
export class Uint16 {
  readonly type = 'uint16'
  readonly value: number
  constructor(value: number) {
    if (!Number.isInteger(value) || value < 0 || value > 0xffff) {
      throw new RangeError(`Cannot store ${value} as uint16: it must be an integer below 65536`)
    }
    this.value = value
  }
}

const UINT128_END = 2n ** 128n

/**
 * Returns the same text for values that are stored the same way, and only for those. The order of a
 * map's keys counts. Throws for values that cannot be stored.
 */
export function contentKey(value: MmdbValue): string {
  switch (typeof value) {
    case 'string':
      return `s${value.length}:${value}`
    case 'boolean':
      return value ? 'y' : 'n'
    case 'number':
      return numberKey(value)
    case 'bigint':
      return bigintKey(value)
    case 'object':
      return objectKey(value)
    default:
      throw new TypeError(`Cannot store a value of type ${typeof value}`)
  }
}

function numberKey(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError(`Cannot store the number ${value}`)
  return storesAsInteger(value) ? `i${value};` : doubleKey(value)
}

function doubleKey(value: number): string {
  return Object.is(value, -0) ? 'd-0;' : `d${value};`
}

function bigintKey(value: bigint): string {
  if (value >= 0n && value < UINT128_END) return `b${value};`
  throw new RangeError(`Cannot store ${value}: a bigint must be from 0 to 2^128-1`)
}

function objectKey(value: MmdbValue & object): string {
  if (value === null) throw new TypeError('Cannot store null')
  if (value instanceof Double) return doubleKey(value.value)
  if (value instanceof Uint16) return `h${value.value};`
  if (isArray(value)) return `[${value.map(contentKey).join('')}]`
  let key = '{'
  for (const [name, item] of Object.entries(value)) key += contentKey(name) + contentKey(item)
  return `${key}}`
}

/** Whether a plain number fits uint32 or int32. */
export function storesAsInteger(value: number): boolean {
  return Number.isInteger(value) && value >= -0x80000000 && value <= 0xffffffff
}

/** Array.isArray does not distinguish a readonly array from a map. */
export function isArray(value: MmdbValue): value is readonly MmdbValue[] {
  return Array.isArray(value)
}
