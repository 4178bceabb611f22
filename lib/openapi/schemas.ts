import {
  type ConversionConfig,
  type JsonSchema,
  type OverrideSchemaContext,
  toJsonSchema,
  toJsonSchemaDefs,
} from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'
import { schemaDescriptions } from './contract/schema-descriptions.ts'
import { schemas } from './contract/schemas.ts'

const CONVERSION = {
  target: 'draft-2020-12',
  typeMode: 'output',
  errorMode: 'throw',
  // What such an action asks for, metadata beside it say.
  ignoreActions: ['check'],
  overrideRef: ({ referenceId }) => pointerTo(referenceId),
  overrideSchema: simplify,
} as const satisfies ConversionConfig

const NAMES = new Map<GenericSchema, string>(
  Object.entries(schemas).map(([name, schema]) => [schema, name]),
)

/** The named schemas, as JSON Schema, each with a description. */
export function namedSchemas(): Record<string, JsonSchema> {
  const descriptions: Readonly<Record<string, string>> = schemaDescriptions
  const named = Object.entries(toJsonSchemaDefs(schemas, CONVERSION))
  return Object.fromEntries(
    named.map(([name, schema]) => [name, { description: descriptions[name] ?? '', ...schema }]),
  )
}

/** The schema in place: a reference where it has a name. Throws for what JSON Schema cannot say. */
export function toSchema(schema: GenericSchema): JsonSchema {
  const name = NAMES.get(schema)
  if (name !== undefined) return { $ref: pointerTo(name) }
  const { $schema, $defs, ...rest } = toJsonSchema(schema, { ...CONVERSION, definitions: schemas })
  return rest
}

function pointerTo(name: string): string {
  return `#/components/schemas/${name}`
}

/** Says the type of a constant, and of a nullable scalar as one list of types. */
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
