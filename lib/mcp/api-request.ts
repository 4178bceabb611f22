import { quoted } from '../contract/common.ts'
import type { Operation } from '../contract/operation.ts'
import { operations } from '../contract/operations.ts'
import { fieldError } from '../parts/errors.ts'

/** A request to the API, made from the arguments of a tool. */
export interface ApiRequest {
  readonly row: Operation
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  /** undefined: none. */
  readonly body: object | undefined
  /** The path with the query. */
  readonly path: string
}

export interface ApiAnswer {
  readonly status: number
  readonly text: string
}

/**
 * Has the API answer a request: here, or at another server. Throws the ApiError that it would answer with, or
 * returns that answer. `signal` aborts when the client no longer waits.
 */
export type AskApi = (request: ApiRequest, signal: AbortSignal) => Promise<ApiAnswer>

type Arguments = Readonly<Record<string, unknown>>

/**
 * Turns a call of a tool into a request to the API, which checks the values. Throws BAD_REQUEST if an argument
 * is unknown, or would lead to another operation.
 */
export function toApiRequest(row: Operation, given: Arguments): ApiRequest {
  const parts = {
    params: row.params,
    query: entriesOf(row.query),
    body: entriesOf(row.body?.schema),
  }
  const known = new Set(Object.values(parts).flatMap((part = {}) => Object.keys(part)))
  const unknown = Object.keys(given).find((name) => !known.has(name))
  if (unknown !== undefined) {
    throw fieldError(unknown, `is not an argument of ${row.id}`)
  }
  const params = toTexts(pick(given, parts.params))
  const query = toTexts(pick(given, parts.query))
  const body = parts.body === undefined ? undefined : pick(given, parts.body)
  const search = new URLSearchParams(query)
  const path = fillPath(row, params)
  return { row, params, query, body, path: search.size === 0 ? path : `${path}?${search}` }
}

interface Parts {
  /** Fields of an object schema. */
  readonly entries?: Readonly<Record<string, unknown>>
}

function entriesOf(schema: (object & Parts) | undefined): Parts['entries'] {
  return schema?.entries
}

function pick(given: Arguments, names: object = {}): Arguments {
  return Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(names, name)))
}

/** Paths and queries hold texts. */
function toTexts(values: Arguments): Record<string, string> {
  const texts = Object.entries(values).map(([name, value]) => [name, toText(value).toWellFormed()])
  return Object.fromEntries(texts)
}

/** Lists are written as in a query. A value of another type becomes JSON, which the API may refuse. */
function toText(value: unknown): string {
  if (Array.isArray(value)) return value.map(toText).join(',')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const LITERAL_PATHS: ReadonlySet<string> = new Set(operations.map(({ path }) => path))

function fillPath(row: Operation, params: Readonly<Record<string, string>>): string {
  const names = Object.keys(row.params ?? {})
  const missing = names.find((name) => (params[name] ?? '') === '')
  if (missing !== undefined) throw fieldError(missing, 'is missing')
  const path = row.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  )
  // `..` would lead to the path above, and `me` to the address of the caller.
  const leadsElsewhere =
    names.length > 0 &&
    (new URL(path, 'http://service.invalid').pathname !== path || LITERAL_PATHS.has(path))
  if (!leadsElsewhere) return path
  const [name = ''] = names
  throw fieldError(name, `${quoted(params[name])} is not valid`)
}
