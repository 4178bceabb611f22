import * as v from 'valibot'
import type { Operation } from '../../lib/contract/operation.ts'
import { operations } from '../../lib/contract/operations.ts'
import { ApiError } from '../../lib/errors.ts'
import { parse, parseJson, readJson } from '../../lib/parse.ts'
import type { UserVisit } from '../dashboard/request/visit.ts'
import type { PageAnswer } from '../pages/page.ts'
import { messageOf } from '../request/admit.ts'

/** Enough for the largest body of an operation. */
const MAX_BYTES = 600_000

const TryBody = v.strictObject({
  operation: v.string(),
  /** With its query. */
  path: v.string(),
  /** JSON as text. */
  body: v.optional(v.string()),
})

const SHOWN_HEADERS = ['ratelimit', 'ratelimit-policy', 'retry-after', 'server-timing']

/** Sends a request of the API reference as the signed-in user, and answers what the API answers. */
export async function tryWithSession({ c, sendApi, token }: UserVisit): Promise<PageAnswer> {
  const { operation, path, body } = parse(TryBody, await readJson(messageOf(c), MAX_BYTES))
  const row = findRow(operation)
  if (row === undefined || !isPathOf(row, path)) {
    throw new ApiError('BAD_REQUEST', 'The request is not one of the reference')
  }
  const {
    status,
    headers,
    body: content,
  } = await sendApi(row.method.toUpperCase(), path, {
    headers: { authorization: `Bearer ${token}` },
    ...(row.body !== undefined && body !== undefined && { body: parseJson(body) }),
    isSignedIn: true,
  })
  const shown = Object.fromEntries(
    SHOWN_HEADERS.flatMap((name) => {
      const value = headers.get(name)
      return value === null ? [] : [[name, value]]
    }),
  )
  if (content === null) return { status, headers: shown, html: null }
  return { status, headers: shown, file: content, type: headers.get('content-type') ?? '' }
}

/** Excludes public operations: they need no session, and some read headers that this page does not send. */
function findRow(id: string): Operation | undefined {
  const rows: readonly Operation[] = operations
  return rows.find((row) => row.id === id && row.access !== 'public')
}

/** Whether the path is the row's, with any values of its parameters. */
function isPathOf(row: Operation, path: string): boolean {
  const url = path.startsWith('//') ? null : URL.parse(path, 'http://service.invalid')
  const [wanted, given] = [row.path.split('/'), url?.pathname.split('/') ?? []]
  return (
    wanted.length === given.length &&
    wanted.every((part, at) => part.startsWith('{') || part === given[at])
  )
}
