import { valueAt } from '../../contract/value-at.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: a value must not end its line
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g

export type Json = { readonly [name: string]: unknown }

/** The fields to keep; `true` keeps a whole field, a tree only some of its subfields. */
interface Tree {
  readonly [name: string]: Tree | true
}

/**
 * Returns a function that keeps only `fields`, given as dotted names, of an object. A degraded
 * result also keeps the field that says so: otherwise missing fields would look unknown.
 */
export function createSelect(
  fields: readonly string[],
  { degraded }: { readonly degraded: boolean },
): (result: Json) => Json {
  const tree = toTree(degraded ? [...fields, 'meta.degraded'] : fields)
  return (result) => select(result, tree) ?? {}
}

/**
 * The values of the fields as text, one line for each, in this order; an empty line if there is no
 * value. Objects and lists are JSON.
 */
export function toFieldLines(result: Json, fields: readonly string[]): string {
  return fields.map((field) => `${toText(valueAt(result, field))}\n`).join('')
}

/** A field named together with one of its subfields is kept as a whole. */
function toTree(fields: readonly string[]): Tree {
  const names = new Set(fields.map((field) => field.split('.')[0] ?? ''))
  return Object.fromEntries([...names].map((name) => [name, toBranch(name, fields)]))
}

function toBranch(name: string, fields: readonly string[]): Tree | true {
  if (fields.includes(name)) return true
  const inner = fields.filter((field) => field.startsWith(`${name}.`))
  return toTree(inner.map((field) => field.slice(name.length + 1)))
}

/** Returns undefined if none of the fields has a value. */
function select(value: Json, tree: Tree): Json | undefined {
  const kept = Object.entries(tree)
    .map(([name, branch]) => [name, selectField(value[name], branch)] as const)
    .filter(([, field]) => field !== undefined)
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

function selectField(value: unknown, branch: Tree | true): unknown {
  if (value === undefined || branch === true) return value
  // safe: only objects have subfields in the contract
  return select(value as Json, branch)
}

function toText(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value.replaceAll(CONTROL, ' ') : JSON.stringify(value)
}
