import type { GenericSchema, InferInput } from 'valibot'
import type { Operation } from '../../../lib/contract/operation.ts'
import {
  type OperationId,
  type OperationRow,
  operations,
} from '../../../lib/contract/operations.ts'
import { ApiError, type ErrorCode } from '../../../lib/parts/errors.ts'
import type { Reply } from '../../context.ts'
import { textOf } from '../../request/within.ts'
import type { Session } from './session.ts'

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
 * Calls an operation of the public API as the signed-in user, with the same checks as a call from the user's own
 * program. Throws the ApiError that the API would answer with.
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

export function createCallApi(session: Session): CallApi {
  return async (id, ...[input]) => {
    // safe: `ApiInputs` is derived from the row with this id
    const given = (input ?? {}) as AnyInput
    const call = session.open(getOperation(id))
    const reply = await session.perform(call, { ...given, query: withoutEmpty(given.query) })
    const body = 'body' in reply ? reply.body : JSON.parse(textOf(reply))
    // safe: the contract tests check every answer against its row
    return body as ApiOutputs[typeof id]
  }
}

export function getOperation(id: OperationId): Operation {
  const row = operations.find((candidate) => candidate.id === id)
  if (row === undefined) throw new Error(`No operation ${id}`)
  return row
}

/** Fields of a form that are left empty are not sent. */
function withoutEmpty(query: AnyInput['query'] = {}): Record<string, string> {
  const given = Object.entries(query).flatMap(([name, value = '']) =>
    value === '' ? [] : [[name, value] as const],
  )
  return Object.fromEntries(given)
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
