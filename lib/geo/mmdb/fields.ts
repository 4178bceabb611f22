import type { Decoded, DecodedMap } from './decoder.ts'

/** These functions read single fields of a record, whose keys may have values of any type. */

const EMPTY: DecodedMap = {}

export function mapAt(record: DecodedMap, key: string): DecodedMap {
  return asMap(record[key])
}

export function asMap(value: Decoded | undefined): DecodedMap {
  return isMap(value) ? value : EMPTY
}

function isMap(value: Decoded | undefined): value is DecodedMap {
  return typeof value === 'object' && !Array.isArray(value) && !Buffer.isBuffer(value)
}

/** The maps in an array, in order. */
export function mapsAt(record: DecodedMap, key: string): DecodedMap[] {
  const value = record[key]
  return Array.isArray(value) ? value.filter(isMap) : []
}

/** The texts in an array, in order. */
export function textsAt(record: DecodedMap, key: string): string[] {
  const value = record[key]
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

/** The text, or undefined if the value is not a text, or empty, or "-", as IP2Location writes what it does not know. */
export function textAt(record: DecodedMap, key: string): string | undefined {
  const value = record[key]
  return typeof value === 'string' && value !== '' && value !== '-' ? value : undefined
}

/** The number; files made from CSV spell numbers as text. */
export function numberAt(record: DecodedMap, key: string): number | undefined {
  const value = record[key]
  if (value === undefined || value === '' || typeof value === 'object') return undefined
  const number = Number(value)
  return Number.isFinite(number) && typeof value !== 'boolean' ? number : undefined
}
