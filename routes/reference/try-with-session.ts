import * as v from 'valibot'
import type { Operation } from '../../lib/contract/operation.ts'
import { operations } from '../../lib/contract/operations.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import { parse, parseJson, readJson } from '../../lib/parts/parse.ts'
import type { UserVisit } from '../dashboard/request/visit.ts'
import type { PageAnswer } from '../pages/page.ts'
import { messageOf } from '../request/admit.ts'
import { toAnswer } from '../request/exchange.ts'
import { type Answer, errorJson, toResponse } from '../request/respond.ts'
import { toReplyAnswer } from '../request/serve.ts'
import type { Given } from '../request/within.ts'

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

/** Performs an operation of the API reference as the signed-in user, and answers what the API answers. */
export async function tryWithSession({ c, session, services }: UserVisit): Promise<PageAnswer> {
  const { operation, path, body } = parse(TryBody, await readJson(messageOf(c), MAX_BYTES))
  const asked = findAsked(operation, path)
  if (asked === undefined) {
    throw new ApiError('BAD_REQUEST', 'This request is not in the API reference')
  }
  const { row, ...given } = asked
  const value = row.body !== undefined && body !== undefined ? { body: parseJson(body) } : {}
  const answer = await answerCall({ session, services }, row, { ...given, ...value })
  const { status, headers, body: content } = toResponse(answer)
  const shown = Object.fromEntries(
    SHOWN_HEADERS.flatMap((name) => {
      const value = headers.get(name)
      return value === null ? [] : [[name, value]]
    }),
  )
  if (content === null) return { status, headers: shown, html: null }
  return { status, headers: shown, file: content, type: headers.get('content-type') ?? '' }
}

async function answerCall(
  { session, services }: Pick<UserVisit, 'session' | 'services'>,
  row: Operation,
  given: Given,
): Promise<Answer> {
  const call = session.open(row)
  try {
    return toReplyAnswer(call, await session.perform(call, given))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { status, headers } = error
    return toAnswer(call, { status, json: errorJson(error, call, services.baseUrl()), headers })
  }
}

/** Excludes public operations: they need no session, and some read headers that this page does not send. */
const ROWS: readonly Operation[] = operations.filter(({ access }) => access !== 'public')

/** The operation that the API would perform at this path, if it is the one of this id or has a path of its own. */
function findAsked(id: string, path: string) {
  const url = path.startsWith('//') ? null : URL.parse(path, 'http://service.invalid')
  const named = ROWS.find((row) => row.id === id)
  if (url === null || named === undefined) return undefined
  const parts = url.pathname.split('/')
  const params = paramsIn(named, parts)
  if (params === null) return undefined
  const literal = ROWS.find(({ method, path }) => method === named.method && path === url.pathname)
  return { row: literal ?? named, params, query: url.searchParams }
}

/** null if the path is not the row's. */
function paramsIn({ path }: Operation, given: readonly string[]): Record<string, string> | null {
  const wanted = path.split('/')
  const isSame = wanted.every((part, at) => part.startsWith('{') || part === given[at])
  if (wanted.length !== given.length || !isSame) return null
  const params = wanted.flatMap((part, at) =>
    part.startsWith('{') ? [[part.slice(1, -1), decoded(given[at] ?? '')] as const] : [],
  )
  return Object.fromEntries(params)
}

/** Like the router, leaves a text as it is if it is not well encoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
