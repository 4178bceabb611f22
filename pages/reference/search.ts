import type { Shape } from '../../lib/openapi/fields.ts'
import { contents, type Entry } from './contents.ts'
import type { OperationText } from './describe.ts'
import { isMatch, type SearchEntry } from './match.ts'

/** The pages whose words match the query, in the order of the contents. */
export function foundBy(index: readonly SearchEntry[], query: string): Entry[] {
  const paths = new Set(index.filter((entry) => isMatch(entry, query)).map(({ path }) => path))
  return contents()
    .flatMap(({ entries }) => entries)
    .filter(({ path }) => paths.has(path))
}

/** Names, path, descriptions, fields and errors of an operation. */
export function searchWords({ row, parameters, body, replies, errors }: OperationText): string {
  const shapes = [{ name: '', fields: parameters }, ...(body?.shapes ?? [])]
  const words = [
    row.id,
    row.method,
    row.path,
    row.summary,
    row.description ?? '',
    row.tag,
    ...[...shapes, ...replies.flatMap((reply) => reply.shapes)].flatMap(wordsOf),
    ...errors.map(({ code }) => code),
  ]
  return wordsIn(words.join(' '))
}

/** Each word of the text once, in lower case. */
export function wordsIn(text: string): string {
  return [...new Set(text.toLowerCase().split(/\s+/))].join(' ')
}

function wordsOf({ name, fields }: Shape): string[] {
  return [
    name,
    ...fields.flatMap((field) => [field.name, field.description, ...field.shapes.flatMap(wordsOf)]),
  ]
}
