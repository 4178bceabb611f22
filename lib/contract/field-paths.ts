import * as v from 'valibot'

/**
 * The dotted names of all fields that an object of the schema may have, such as `location` and
 * `location.city`, in its order. Lists are fields as a whole.
 */
export function fieldPaths(schema: v.GenericSchema): string[] {
  return Object.entries(entriesOf(schema)).flatMap(([name, field]) => [
    name,
    ...fieldPaths(field).map((inner) => `${name}.${inner}`),
  ])
}

/** The schema of an object of which only some fields are told, at any depth. */
export function selectionOf(schema: v.GenericSchema): v.GenericSchema {
  const entries = Object.entries(entriesOf(schema))
  if (entries.length === 0) return schema
  return v.strictObject(
    Object.fromEntries(entries.map(([name, field]) => [name, v.optional(selectionOf(field))])),
  )
}

interface Parts {
  /** Of an object. */
  readonly entries?: Readonly<Record<string, v.GenericSchema>>
  /** Of an optional one. */
  readonly wrapped?: v.GenericSchema
}

function entriesOf({ entries, wrapped }: v.GenericSchema & Parts): NonNullable<Parts['entries']> {
  return entries ?? (wrapped === undefined ? {} : entriesOf(wrapped))
}
