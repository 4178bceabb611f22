/** A string literal of TypeScript, Python and Go: the escapes of JSON mean the same in all three. */
export function doubleQuoted(text: string): string {
  return JSON.stringify(text.toWellFormed())
}

/** A word of a POSIX shell. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** A string literal of PHP. */
export function phpQuoted(text: string): string {
  return `'${text.replaceAll(/[\\']/g, '\\$&')}'`
}

/** A raw string literal of Go, or an interpreted one where the text has a character that raw ones lose. */
export function goQuoted(text: string): string {
  return /[`\r\ufeff]/.test(text) || !text.isWellFormed() ? doubleQuoted(text) : `\`${text}\``
}

/** A value of JSON as a literal of Python. */
export function pythonValue(value: unknown, indent = ''): string {
  const inner = `${indent}    `
  const lines = (items: readonly string[], [open, close]: string) =>
    items.length === 0
      ? `${open}${close}`
      : `${open}\n${items.map((item) => `${inner}${item},\n`).join('')}${indent}${close}`
  if (value === null) return 'None'
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (typeof value === 'string') return doubleQuoted(value)
  if (Array.isArray(value))
    return lines(
      value.map((item) => pythonValue(item, inner)),
      '[]',
    )
  if (typeof value !== 'object') return String(value)
  const entries = Object.entries(value)
  return lines(
    entries.map(([name, item]) => `${doubleQuoted(name)}: ${pythonValue(item, inner)}`),
    '{}',
  )
}

/** All lines but the first, indented. */
export function indented(text: string, by: string): string {
  return text.replaceAll('\n', `\n${by}`)
}
