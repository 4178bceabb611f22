import type { JsonSchema } from '@valibot/to-json-schema'

/** A type in words, for one value and for several. */
interface Noun {
  readonly one: string
  readonly many: string
}

const FORMATS: Readonly<Record<string, Noun>> = {
  date: { one: 'date', many: 'dates' },
  'date-time': { one: 'time in ISO 8601', many: 'times in ISO 8601' },
  email: { one: 'e-mail address', many: 'e-mail addresses' },
  ipv4: { one: 'IPv4 address', many: 'IPv4 addresses' },
  ipv6: { one: 'IPv6 address', many: 'IPv6 addresses' },
  uri: { one: 'URL', many: 'URLs' },
  uuid: { one: 'UUID', many: 'UUIDs' },
}

const TYPES: Readonly<Record<string, Noun>> = {
  boolean: { one: 'true or false', many: 'true or false' },
  integer: { one: 'whole number', many: 'whole numbers' },
  null: { one: 'null', many: 'null' },
  number: { one: 'number', many: 'numbers' },
  object: { one: 'object', many: 'objects' },
  string: { one: 'text', many: 'texts' },
}

const ANYTHING: Noun = { one: 'any value', many: 'any values' }

/** Returns the schema that a reference names, and any other schema itself. */
export type Resolve = (schema: JsonSchema) => JsonSchema

/** The type of a value in words, such as `list of texts`, or `time in ISO 8601 or null`. */
export function typeWords(schema: JsonSchema, resolve: Resolve): string {
  return joined(nounsOf(schema, resolve), 'one')
}

/** One noun for each type that the value may have. */
function nounsOf(given: JsonSchema, resolve: Resolve): Noun[] {
  const schema = resolve(given)
  const choices = choicesOf(schema)
  if (choices.length > 0) return choices.flatMap((choice) => nounsOf(choice, resolve))
  if (Array.isArray(schema.type)) {
    return schema.type.flatMap((type) => nounsOf({ ...schema, type }, resolve))
  }
  if (schema.type === 'array') return [listNoun(schema, resolve)]
  const format = schema.type === 'string' ? FORMATS[schema.format ?? ''] : undefined
  return [format ?? TYPES[schema.type ?? typeof valuesIn(schema)[0]] ?? ANYTHING]
}

function listNoun(schema: JsonSchema, resolve: Resolve): Noun {
  const items = itemsOf(schema)
  const many = joined(items === undefined ? [ANYTHING] : nounsOf(items, resolve), 'many')
  return { one: `list of ${many}`, many: `lists of ${many}` }
}

function joined(nouns: readonly Noun[], form: keyof Noun): string {
  return [...new Set(nouns.map((noun) => noun[form]))].join(' or ')
}

/** The alternatives of a schema: a value must match one of them. */
export function choicesOf({ anyOf, oneOf }: JsonSchema): JsonSchema[] {
  return [...(anyOf ?? []), ...(oneOf ?? [])].filter((choice) => typeof choice === 'object')
}

/** The schema of a list's entries; undefined if it is not a list, or its entries are of any type. */
export function itemsOf({ items }: JsonSchema): JsonSchema | undefined {
  return typeof items === 'object' && !Array.isArray(items) ? items : undefined
}

/** The values of an enumeration or constant; empty if the schema is neither. */
export function valuesIn({ const: only, enum: some }: JsonSchema): readonly unknown[] {
  return some ?? (only === undefined ? [] : [only])
}
