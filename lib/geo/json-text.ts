/**
 * JSON of parts of an answer, made once per record and joined per request. All of it is ASCII, with
 * anything else escaped (RFC 8259 section 7): a string with one flag in it would take two bytes for
 * every character, and sending it several times as long.
 */

/** Printable ASCII but for the quotation mark and the backslash. */
const PLAIN = /^[ !#-[\]-~]*$/

/** `text` as a JSON string. */
export function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : asciiJson(text)
}

/** `value` as JSON in ASCII. */
export function asciiJson(value: unknown): string {
  const json = JSON.stringify(value).replaceAll(/[^ -~]/g, escaped)
  // Through bytes and back: V8 goes on to store in two bytes what once needed them.
  return Buffer.from(json, 'latin1').toString('latin1')
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** `"name":json`, or nothing where there is no value. */
export function field(name: string, value: string | undefined): string {
  return value === undefined ? '' : `"${name}":${quoted(value)}`
}

/** An object of the fields that are not empty. */
export function objectOf(fields: readonly string[]): string {
  return `{${joined(fields)}}`
}

export function joined(fields: readonly string[]): string {
  return fields.filter((text) => text !== '').join(',')
}
