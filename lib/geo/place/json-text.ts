/** JSON with only ASCII characters. JSON.stringify escapes control characters itself. */
const ASCII = /^[ -~]*$/

/**
 * `value` as JSON in ASCII: other characters are escaped (RFC 8259 section 7). A single flag emoji
 * would make V8 store the whole answer with two bytes per character, which takes several times as long
 * to send.
 */
export function asciiJson(value: unknown): string {
  const json = JSON.stringify(value)
  if (ASCII.test(json)) return json
  // Through bytes and back: otherwise V8 keeps storing two bytes per character.
  return Buffer.from(json.replaceAll(/[^ -~]/g, escaped), 'latin1').toString('latin1')
}

function escaped(codeUnit: string): string {
  return `\\u${codeUnit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** The fields of `value` as JSON without braces, for a part of an answer; '' if there are none. */
export function asciiFields(value: object): string {
  return asciiJson(value).slice(1, -1)
}
