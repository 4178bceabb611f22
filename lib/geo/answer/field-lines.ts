import { valueAt } from '../../contract/value-at.ts'
import type { Json } from './select-fields.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: a value must not end its line
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g

/**
 * The values of the fields as text, one line for each, in this order; an empty line if there is no
 * value. Objects and lists are JSON.
 */
export function toFieldLines(result: Json, fields: readonly string[]): string {
  return fields.map((field) => `${toText(valueAt(result, field))}\n`).join('')
}

function toText(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value.replaceAll(CONTROL, ' ') : JSON.stringify(value)
}
