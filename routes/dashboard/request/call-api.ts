import type { GenericSchema, InferInput, InferOutput } from 'valibot'
import * as v from 'valibot'
import { ApiErrorBody } from '../../lib/contract/common.ts'
import type { Operation } from '../../lib/contract/operation.ts'
import { type OperationId, type OperationRow, operations } from '../../lib/contract/operations.ts'
import { ApiError, type ErrorCode } from '../../lib/errors.ts'
import type { SendApi } from './send-api.ts'

/** What an operation is asked with, as the contract has it. */
export type Question<Id extends OperationId> = Questions[Id]
/** The body of an answer that is no error; that an address is not known is none. */
export type Told<Id extends OperationId> = Answers[Id]

type Questions = {
  [Row in OperationRow as Row['id']]: ParamsOf<Row> & QueryOf<Row> & BodyOf<Row>
}
type Answers = {
  [Row in OperationRow as Row['id']]: OutputOf<Row['replies'][keyof Row['replies']]>
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
type OutputOf<Reply> = Reply extends { readonly schema: infer Schema }
  ? Schema extends GenericSchema
    ? InferOutput<Schema>
    : undefined
  : never

/**
 * Asks an operation of the public API for the user of a session, as a program of theirs would: its
 * checks, limits and log lines are those of any caller. Throws the ApiError that it answers.
 */
export type Ask = <Id extends OperationId>(
  id: Id,
  ...question: unknown extends Question<Id> ? [] : [Question<Id>]
) => Promise<Told<Id>>

interface AnyQuestion {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
}

/** `isSignedIn`: the session was found good for this visit, and need not be taken for a bad one again. */
export function createAsk(
  sendApi: SendApi,
  { token, isSignedIn }: { readonly token: string; readonly isSignedIn: boolean },
): Ask {
  return async (id, ...[question]) => {
    const row = getOperation(id)
    // safe: `Question` is made of the row of this id
    const asked = (question ?? {}) as AnyQuestion
    const response = await sendApi(row.method.toUpperCase(), toPath(row, asked), {
      headers: { authorization: `Bearer ${token}` },
      body: asked.body,
      isSignedIn,
    })
    const text = await response.text()
    const body: unknown = text === '' ? undefined : JSON.parse(text)
    if (!(response.status in row.replies)) throw toError(body, response)
    // safe: every answer of an operation is of its row, which the tests of all operations check
    return body as Told<typeof id>
  }
}

function getOperation(id: OperationId): Operation {
  const row = operations.find((candidate) => candidate.id === id)
  if (row === undefined) throw new Error(`There is no operation ${id}`)
  return row
}

function toPath({ path }: Operation, { params = {}, query = {} }: AnyQuestion): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] ?? ''))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') search.set(name, value)
  }
  return search.size === 0 ? filled : `${filled}?${search}`
}

function toError(body: unknown, { status, headers }: Response): ApiError {
  const told = v.safeParse(ApiErrorBody, body)
  if (!told.success) throw new Error(`The API answered ${status} without an error of its own`)
  const { code, message } = told.output.error
  const wait = headers.get('retry-after')
  return new ApiError(code, message, { headers: wait === null ? {} : { 'retry-after': wait } })
}

/** What went wrong, to be said on the page that it was asked from. What is a bug is thrown on. */
export function refusalOf(error: unknown): ApiError {
  if (!(error instanceof ApiError) || SAID_ELSEWHERE.has(error.code)) throw error
  return error
}

/** No session any more: sign in again. A bug: its own page. */
const SAID_ELSEWHERE: ReadonlySet<ErrorCode> = new Set(['UNAUTHORIZED', 'INTERNAL'])
