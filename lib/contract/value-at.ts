/** The value at a path with dots, such as `location.city`, in parsed JSON; undefined if there is none. */
export function valueAt(json: unknown, path: string): unknown {
  return walk(json, path.split('.'))
}

/** `valueAt` for one path and many values. */
export function readerOf(path: string): (json: unknown) => unknown {
  const names = path.split('.')
  return (json) => walk(json, names)
}

function walk(json: unknown, names: readonly string[]): unknown {
  let value = json
  for (const name of names) {
    if (typeof value !== 'object' || value === null) return undefined
    // safe: reading any name of an object is allowed
    value = (value as Readonly<Record<string, unknown>>)[name]
  }
  return value
}
