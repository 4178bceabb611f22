/** The value at a path with dots, such as `location.city`, in parsed JSON; undefined if there is none. */
export function valueAt(json: unknown, path: string): unknown {
  let value = json
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined
    // safe: reading any name of an object is allowed
    value = (value as Readonly<Record<string, unknown>>)[name]
  }
  return value
}
