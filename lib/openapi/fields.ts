import type { JsonSchema } from '@valibot/to-json-schema'
import { choicesOf, itemsOf, type Resolve, typeWords, valuesIn } from './type-words.ts'

/** A field or parameter in words. */
export interface Field {
  readonly name: string
  /** Such as `list of texts`. */
  readonly type: string
  readonly isRequired: boolean
  /** Empty if the name says it all. */
  readonly description: string
  /** Limits and default, such as `1 to 100` and `default: 50`. */
  readonly rules: readonly string[]
  /** The only values that it may have; empty if there are others. */
  readonly values: readonly string[]
  /** Its own fields, if it is an object or a list of objects. */
  readonly shapes: readonly Shape[]
}

/** The fields of one kind of object. A field that may be of several kinds has several shapes. */
export interface Shape {
  /** The name of the schema in the OpenAPI document; empty if it has none. */
  readonly name: string
  readonly fields: readonly Field[]
}

export type FieldReader = ReturnType<typeof createFieldReader>

const POINTER = '#/components/schemas/'

/** Reads schemas of the OpenAPI document; `named` are those to which references lead. */
export function createFieldReader(named: Readonly<Record<string, JsonSchema>>) {
  const resolve: Resolve = (schema) =>
    schema.$ref === undefined ? schema : (named[nameOf(schema)] ?? {})

  function toField(name: string, given: JsonSchema, isRequired: boolean): Field {
    const schema = resolve(given)
    const value = valueIn(schema)
    return {
      name,
      type: typeWords(given, resolve),
      isRequired,
      description: given.description ?? schema.description ?? value.description ?? '',
      rules: rulesOf({ ...value, ...schema }),
      values: allValues(given),
      shapes: shapesOf(given),
    }
  }

  /** What a value is if it is not null; the schema itself if it may be of several types. */
  function valueIn(schema: JsonSchema): JsonSchema {
    const [choice, ...others] = choicesOf(schema).filter(({ type }) => type !== 'null')
    return choice === undefined || others.length > 0 ? schema : resolve(choice)
  }

  function shapesOf(given: JsonSchema): Shape[] {
    const schema = resolve(given)
    const inner = [itemsOf(schema) ?? [], choicesOf(schema)].flat()
    if (inner.length > 0) return inner.flatMap(shapesOf)
    const { properties = {}, required = [] } = schema
    const fields = Object.entries(properties).map(([name, property]) =>
      toField(name, typeof property === 'boolean' ? {} : property, required.includes(name)),
    )
    return fields.length === 0 ? [] : [{ name: nameOf(given), fields }]
  }

  function allValues(given: JsonSchema): string[] {
    const schema = resolve(given)
    const inner = [itemsOf(schema) ?? [], choicesOf(schema)].flat()
    return [...valuesIn(schema).map(String), ...inner.flatMap(allValues)]
  }

  return {
    toField,
    shapesOf,
    /** What a body is, such as `list of objects`. */
    typeOf: (schema: JsonSchema) => typeWords(schema, resolve),
  }
}

function nameOf({ $ref = '' }: JsonSchema): string {
  return $ref.replace(POINTER, '')
}

function rulesOf(schema: JsonSchema): string[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = schema
  return [
    range(minimum, maximum),
    range(minLength, maxLength, 'characters'),
    range(minItems, maxItems, 'entries'),
    schema.default === undefined ? '' : `default: ${schema.default}`,
  ].filter((rule) => rule !== '')
}

/** The limits in words, such as `1 to 100 characters`; empty if there are none to show. */
function range(least = 0, most = Number.POSITIVE_INFINITY, unit = ''): string {
  if (least === 1 && most === Number.POSITIVE_INFINITY && unit !== '') return 'not empty'
  const noun = unit === '' ? '' : ` ${unit}`
  const [from, to] = [least.toLocaleString('en'), most.toLocaleString('en')]
  if (most === Number.POSITIVE_INFINITY) return least === 0 ? '' : `at least ${from}${noun}`
  return least === 0 && unit !== '' ? `at most ${to}${noun}` : `${from} to ${to}${noun}`
}
