/**
 * Colours of a terminal, also as programs write the escape character (`\e`, `\033`, `\u001b`, `^[`, `#033`); the
 * escapes of JSON and of C, of rsyslog (`#011`), of URLs, also twice, and the `=3D` of mails.
 */
const ESCAPES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what begins a colour
  /(?:\u001b|\\e|\\0?33|\\x1b|\\u001b|\^\[|#033)\[[\d;]*[a-z]|\\u00([\da-f]{2})|\\x([\da-f]{2})|\\[nrt/]|#0[0-3][0-7]|%(?:25)*(2[\da-f]|3[a-f]|5[b-e]|7[b-e]|0[9ad])|=3D(?=\d+\.)/gi
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const MAY_HAVE_ESCAPES = /[\\%\u001b]|\^\[|#0|=3D/

/** The text with the characters that escapes stand for, so that addresses do not touch letters of escapes. */
export function withoutEscapes(text: string): string {
  if (!MAY_HAVE_ESCAPES.test(text)) return text
  return text.replace(ESCAPES, (found, ...[json, c, url]: (string | undefined)[]) => {
    if (found === '\\/') return '/'
    const code = Number.parseInt(json ?? c ?? url ?? '', 16)
    return code > 0x20 && code < 0x7f ? String.fromCharCode(code) : ' '
  })
}
