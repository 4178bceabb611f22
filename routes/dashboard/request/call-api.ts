import type { GenericSchema, InferInput } from 'valibot'
import * as v from 'valibot'
import { ApiErrorBody } from '../../../lib/contract/common.ts'
import type { Operation } from '../../../lib/contract/operation.ts'
import {
  type OperationId,
  type OperationRow,
  operations,
} from '../../../lib/contract/operations.ts'
import { ApiError, type ErrorCode } from '../../../lib/errors.ts'
import type { Reply } from '../../context.ts'
import type { SendApi } from './send-api.ts'

/** Path parameters, query and body of each operation, as its contract row defines them. */
type ApiInputs = {
  [Row in OperationRow as Row['id']]: ParamsOf<Row> & QueryOf<Row> & BodyOf<Row>
}
/** The bodies of successful answers. A 404 for an unknown address counts as success. */
type ApiOutputs = {
  [Row in OperationRow as Row['id']]: Extract<Reply<Row>, { readonly body: unknown }>['body']
}

type ParamsOf<Row> = Row extends { readonly params: infer Params }
  ? { readonly params: { readonly [Name in keyof Params]: string } }
  : unknown
type QueryOf<Row> = Row extends { readonly query: infer Query extends GenericSchema }
  ? { readonly query: InferInput<Query> }
  : unknown
type BodyOf<Row> = Row extends { readonly body: { readonly schema: infer Body } }
  ? { readonly body: Body extends GenericSchema ? InferInput<Body> : never }
  : unknown

/**
 * Calls an operation of the public API as the signed-in user, with the same checks, limits and log
 * lines as a call from the user's own program. Throws the ApiError that the API answers with.
 */
export type CallApi = <Id extends OperationId>(
  id: Id,
  ...input: unknown extends ApiInputs[Id] ? [] : [ApiInputs[Id]]
) => Promise<ApiOutputs[Id]>

interface AnyInput {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
}

/** `isSignedIn`: this visit has already verified the session, so the API need not charge for it. */
export function createCallApi(
  sendApi: SendApi,
  { token, isSignedIn }: { readonly token: string; readonly isSignedIn: boolean },
): CallApi {
  return async (id, ...[input]) => {
    const row = getOperation(id)
    // safe: `ApiInputs` is derived from the row with this id
    const given = (input ?? {}) as AnyInput
    const response = await sendApi(row.method.toUpperCase(), toPath(row, given), {
      headers: { authorization: `Bearer ${token}` },
      body: given.body,
      isSignedIn,
    })
    const text = await response.text()
    const body: unknown = text === '' ? undefined : JSON.parse(text)
    if (!(response.status in row.replies)) throw toError(body, response)
    // safe: the contract tests check every answer against its row
    return body as ApiOutputs[typeof id]
  }
}

/** Calls an operation that answers with a file. Throws the ApiError that the API answers with. */
export async function fetchFile(
  { sendApi, token }: { readonly sendApi: SendApi; readonly token: string },
  id: OperationId,
): Promise<Response> {
  const row = getOperation(id)
  const headers = { authorization: `Bearer ${token}` }
  const sent = { headers, isSignedIn: true }
  const response = await sendApi(row.method.toUpperCase(), row.path, sent)
  if (response.status in row.replies) return response
  throw toError(await response.json(), response)
}

export function getOperation(id: OperationId): Operation {
  const row = operations.find((candidate) => candidate.id === id)
  if (row === undefined) throw new Error(`No operation ${id}`)
  return row
}

function toPath({ path }: Operation, { params = {}, query = {} }: AnyInput): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] ?? ''))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') search.set(name, value)
  }
  return search.size === 0 ? filled : `${filled}?${search}`
}

function toError(body: unknown, { status, headers }: Response): ApiError {
  const parsed = v.safeParse(ApiErrorBody, body)
  if (!parsed.success) throw new Error(`The API answered ${status} without an error body`)
  const { code, message } = parsed.output.error
  const wait = headers.get('retry-after')
  return new ApiError(code, message, { headers: wait === null ? {} : { 'retry-after': wait } })
}

/** Returns the API's error for the page to show. Rethrows errors that are handled elsewhere. */
export function errorForPage(error: unknown): ApiError {
  if (!(error instanceof ApiError) || HANDLED_ELSEWHERE.has(error.code)) throw error
  return error
}

/** Returns the body of the answer, or null for an error that a page may ignore. */
export async function orNull<Body>(call: Promise<Body>): Promise<Body | null> {
  try {
    return await call
  } catch (error) {
    errorForPage(error)
    return null
  }
}

/** UNAUTHORIZED leads to the sign-in page, INTERNAL to the error page. */
const HANDLED_ELSEWHERE: ReadonlySet<ErrorCode> = new Set(['UNAUTHORIZED', 'INTERNAL'])
