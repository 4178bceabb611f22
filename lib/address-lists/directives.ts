/** What a list says about itself before its rows. */
export interface Directives {
  readonly delimiter: string
  /** The names of the columns; undefined: not said. */
  readonly fields: readonly string[] | undefined
}

/** Logs begin with a few directives. */
const MOST_LINES = 50

/**
 * Finds `sep=;`, the first line of CSV that Excel writes and reads, and `#Fields:`, which names the columns in logs
 * of IIS and CloudFront (W3C extended log format), Exchange and Zeek.
 */
export function findDirectives(lines: readonly string[]): Directives | undefined {
  const [first = ''] = lines
  const delimiter = delimiterIn(first)
  if (delimiter !== undefined) return { delimiter, fields: undefined }
  const start = first.startsWith('#') ? lines.slice(0, MOST_LINES) : []
  const names = start.find((line) => fieldsIn(line) !== undefined)
  if (names === undefined) return undefined
  const row = lines.find((line) => !line.startsWith('#')) ?? ''
  return { delimiter: delimiterOf(names, row), fields: fieldsIn(names) }
}

/** The delimiter in `sep=;`. */
export function delimiterIn(line: string): string | undefined {
  return /^"?sep=(.|\\t)"?$/i.exec(line)?.[1]?.replace('\\t', '\t')
}

/** The names of the columns in `#Fields: date time c-ip`. */
export function fieldsIn(line: string): readonly string[] | undefined {
  const names = /^#\s?fields:?\s*(\S.*)$/i.exec(line)?.[1]
  return names?.trim().split(/\s*,\s*|\s+/)
}

/** CloudFront separates the names with spaces, and the cells with tabs. */
function delimiterOf(names: string, row: string): string {
  if (row.includes('\t')) return '\t'
  return names.includes(',') ? ',' : ' '
}
