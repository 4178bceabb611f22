import { valueAt } from '../../contract/value-at.ts'
import { eachMember } from './json-members.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: a value must not end its line
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g

export type Json = { readonly [name: string]: unknown }

/** A field to keep: the whole, or only some of its subfields. */
interface Branch {
  /** Its name in JSON, with the colon. */
  readonly name: string
  readonly kept: 'whole' | readonly Branch[]
}

/**
 * Returns a function that keeps only `fields`, given as dotted names, of an object that is JSON as JSON.stringify
 * writes it. A degraded result also keeps the field that says so: otherwise missing fields would look unknown.
 */
export function createSelect(
  fields: readonly string[],
  { degraded }: { readonly degraded: boolean },
): (json: string) => string {
  const branches = toBranches(degraded ? [...fields, 'meta.degraded'] : fields)
  return (json) => select(json, 0, branches) ?? '{}'
}

/**
 * The values of the fields as text, one line for each, in this order; an empty line if there is no
 * value. Objects and lists are JSON.
 */
export function toFieldLines(result: Json, fields: readonly string[]): string {
  return fields.map((field) => `${toText(valueAt(result, field))}\n`).join('')
}

/** A field named together with one of its subfields is kept as a whole. */
function toBranches(fields: readonly string[]): readonly Branch[] {
  const names = new Set(fields.map((field) => field.split('.')[0] ?? ''))
  return [...names].map((name) => {
    const inner = fields.filter((field) => field.startsWith(`${name}.`))
    const subfields = inner.map((field) => field.slice(name.length + 1))
    return { name: `"${name}":`, kept: fields.includes(name) ? 'whole' : toBranches(subfields) }
  })
}

/** Returns undefined if none of the fields has a value. `at` is the index of the object's opening brace. */
function select(json: string, at: number, branches: readonly Branch[]): string | undefined {
  const found: string[] = []
  eachMember(json, at, (name, start, end) => {
    const index = branches.findIndex((branch) => json.startsWith(branch.name, name))
    const branch = branches[index]
    if (branch === undefined) return
    const { kept } = branch
    const value = kept === 'whole' ? json.slice(start, end) : select(json, start, kept)
    if (value !== undefined) found[index] = branch.name + value
  })
  if (found.length === 0) return undefined
  // Fields without a value have left holes.
  return `{${found.filter((field) => field !== undefined).join(',')}}`
}

function toText(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value.replaceAll(CONTROL, ' ') : JSON.stringify(value)
}
