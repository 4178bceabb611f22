import {
  type ConversionConfig,
  type JsonSchema,
  type OverrideSchemaContext,
  toJsonSchema,
  toJsonSchemaDefs,
} from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'
import { schemas } from '../contract/schemas.ts'
import { TO_STORED_EMAIL } from '../parts/email-address.ts'

const CONVERSION = {
  target: 'draft-2020-12',
  typeMode: 'output',
  errorMode: 'throw',
  // Our checks carry their JSON Schema as metadata. The others change no rule.
  ignoreActions: ['check', 'to_upper_case', TO_STORED_EMAIL],
  overrideRef: ({ referenceId }) => pointerTo(referenceId),
  overrideSchema: simplify,
} as const satisfies ConversionConfig

const NAMES = new Map<GenericSchema, string>(
  Object.entries(schemas).map(([name, schema]) => [schema, name]),
)

/** Converts the named schemas to JSON Schema one after the other, each with its description first. */
export function* namedSchemas(): Generator<void, Record<string, JsonSchema>> {
  const named: Record<string, JsonSchema> = {}
  for (const [name, schema] of Object.entries(schemas)) {
    const definitions = { ...namedWithin(Object.values(schema)), [name]: schema }
    const { description = '', ...rest } = toJsonSchemaDefs(definitions, CONVERSION)[name] ?? {}
    named[name] = { description, ...rest }
    yield
  }
  return named
}

/** A reference if the schema has a name, else its JSON Schema. Throws if there is no equivalent. */
export function toSchema(schema: GenericSchema): JsonSchema {
  const name = NAMES.get(schema)
  if (name !== undefined) return { $ref: pointerTo(name) }
  const definitions = namedWithin(schema)
  const { $schema, $defs, ...rest } = toJsonSchema(schema, { ...CONVERSION, definitions })
  return rest
}

/** The named schemas that these parts refer to: the converter converts each definition it is given. */
function namedWithin(parts: object): Record<string, GenericSchema> {
  const found: Record<string, GenericSchema> = {}
  const search = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return
    const name = NAMES.get(value as GenericSchema)
    if (name === undefined) for (const part of Object.values(value)) search(part)
    else found[name] = value as GenericSchema
  }
  search(parts)
  return found
}

/** The JSON Schema without references, for a document of its own. */
export function toWholeSchema(schema: GenericSchema): JsonSchema {
  const { $schema, ...whole } = toJsonSchema(schema, CONVERSION)
  return whole
}

function pointerTo(name: string): string {
  return `#/components/schemas/${name}`
}

/**
 * Adds the type of a constant. Writes a nullable value as one schema with two types, unless it is an
 * object or an enumeration.
 */
function simplify({ valibotSchema, jsonSchema }: OverrideSchemaContext): JsonSchema | undefined {
  if (valibotSchema.type === 'literal') return { ...typeOf(jsonSchema.const), ...jsonSchema }
  if (valibotSchema.type !== 'nullable') return undefined
  const { anyOf: [wrapped] = [], ...rest } = jsonSchema
  if (typeof wrapped !== 'object' || wrapped.enum !== undefined) return undefined
  const { type, ...limits } = wrapped
  if (typeof type !== 'string' || type === 'object') return undefined
  return { ...rest, type: [type, 'null'], ...limits }
}

function typeOf(constant: unknown): JsonSchema {
  const type = typeof constant
  return type === 'string' || type === 'boolean' || type === 'number' ? { type } : {}
}
