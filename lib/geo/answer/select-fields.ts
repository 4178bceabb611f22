import { asciiJson } from './json-text.ts'

type Json = { readonly [name: string]: unknown }

/** Which fields are kept: all of one, or some of its own. */
interface Tree {
  readonly [name: string]: Tree | true
}

/** Returns a function that keeps only `fields`, as dotted names, of an object in JSON. */
export function createSelect(fields: readonly string[]): (json: string) => string {
  const tree = toTree(fields)
  return (json) => asciiJson(select(JSON.parse(json), tree) ?? {})
}

/** A field that is named beside one of its own is kept as a whole. */
function toTree(fields: readonly string[]): Tree {
  const names = new Set(fields.map((field) => field.split('.')[0] ?? ''))
  return Object.fromEntries([...names].map((name) => [name, toBranch(name, fields)]))
}

function toBranch(name: string, fields: readonly string[]): Tree | true {
  if (fields.includes(name)) return true
  const inner = fields.filter((field) => field.startsWith(`${name}.`))
  return toTree(inner.map((field) => field.slice(name.length + 1)))
}

/** undefined: nothing of what is asked for is there. */
function select(value: Json, tree: Tree): Json | undefined {
  const kept = Object.entries(tree)
    .map(([name, branch]) => [name, selectField(value[name], branch)] as const)
    .filter(([, field]) => field !== undefined)
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

function selectField(value: unknown, branch: Tree | true): unknown {
  if (value === undefined || branch === true) return value
  // safe: the names of the contract reach into objects only
  return select(value as Json, branch)
}
