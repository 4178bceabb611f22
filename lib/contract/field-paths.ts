import * as v from 'valibot'

/** Dotted names of all fields of an object schema, such as `location.city`. Arrays are one field. */
export function fieldPaths(schema: v.GenericSchema): string[] {
  return Object.entries(entriesOf(schema)).flatMap(([name, field]) => [
    name,
    ...fieldPaths(field).map((inner) => `${name}.${inner}`),
  ])
}

/** The same schema with every field optional, at any depth. */
export function selectionOf(schema: v.GenericSchema): v.GenericSchema {
  const entries = Object.entries(entriesOf(schema))
  if (entries.length === 0) return schema
  const selection = v.strictObject(
    Object.fromEntries(entries.map(([name, field]) => [name, v.optional(selectionOf(field))])),
  )
  return v.pipe(selection, v.description(descriptionOf(schema)))
}

function descriptionOf(schema: v.GenericSchema & Parts): string {
  return v.getDescription(schema) ?? (schema.wrapped ? descriptionOf(schema.wrapped) : '')
}

/** The names of the fields of an object schema; empty for other schemas. */
export function fieldNames(schema: v.GenericSchema): string[] {
  return Object.keys(entriesOf(schema))
}

interface Parts {
  /** Fields of an object schema. */
  readonly entries?: Readonly<Record<string, v.GenericSchema>>
  /** Inner schema of an optional field. */
  readonly wrapped?: v.GenericSchema
}

function entriesOf({ entries, wrapped }: v.GenericSchema & Parts): NonNullable<Parts['entries']> {
  return entries ?? (wrapped === undefined ? {} : entriesOf(wrapped))
}
