/** The object that a line of JSON holds; null for any other line. */
export function toObject(line: string): Readonly<Record<string, unknown>> | null {
  if (!line.trimStart().startsWith('{')) return null
  try {
    // safe: the text of an object begins with a brace
    return JSON.parse(line) as Readonly<Record<string, unknown>>
  } catch {
    return null
  }
}
