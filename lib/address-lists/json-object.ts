export type JsonObject = Readonly<Record<string, unknown>>

/** The object that a line of JSON holds; null for any other line. */
export function toObject(line: string): JsonObject | null {
  if (!line.trimStart().startsWith('{')) return null
  try {
    // safe: the text of an object begins with a brace
    return JSON.parse(line) as JsonObject
  } catch {
    return null
  }
}

/** Deeper objects are data rather than fields of a log. */
const MAX_DEPTH = 5

/** The names of the fields of nested objects, such as `request.client_ip`. */
export function namesIn(object: JsonObject, depth = 1): string[] {
  if (depth === MAX_DEPTH) return []
  return Object.entries(object).flatMap(([name, value]) =>
    isObject(value)
      ? [...Object.keys(value), ...namesIn(value, depth + 1)].map((inner) => `${name}.${inner}`)
      : [],
  )
}

/** The text of a field, or of those of a list; empty for anything else. */
export function textOfField(object: JsonObject, name: string): string {
  const value = fieldOf(object, name)
  if (typeof value === 'string') return value
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string').join(' ') : ''
}

/** A field by its own name, which may contain dots, or by the names of the objects around it and its own. */
function fieldOf(object: JsonObject, name: string): unknown {
  if (Object.hasOwn(object, name)) return object[name]
  for (let dot = name.indexOf('.'); dot > 0; dot = name.indexOf('.', dot + 1)) {
    const outer = object[name.slice(0, dot)]
    const value = isObject(outer) ? fieldOf(outer, name.slice(dot + 1)) : undefined
    if (value !== undefined) return value
  }
  return undefined
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
