import type { Body, Operation } from '../../lib/contract/operation.ts'
import { limitBytes } from '../../lib/parts/parse.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Handlers } from '../context.ts'
import { MAX_BODY_BYTES, parseBody, readQuery } from './admit.ts'
import { countUse, type Exchange, toPublicError } from './exchange.ts'
import { chargeBody } from './limit.ts'
import { type AnyReply, handlerOf, type Input, perform } from './perform.ts'

/** The service, and the functions that perform its operations. */
export interface Api {
  readonly services: Services
  readonly handlers: Handlers
}

/** The input that code of this process gives to an operation: texts in path and query, and the body as a value. */
export interface Given {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>> | URLSearchParams
  readonly body?: unknown
  /** The header Accept-Language of the other request. */
  readonly acceptLanguage?: string | undefined
  /** Whether only the headers of the answer are sent, as for HEAD. */
  readonly isHead?: boolean
}

/** The call of an operation on behalf of another request, such as that for a page. */
export interface Call extends Exchange {
  readonly row: Operation
}

/** Begins a call within the process. It has the id and the client of the request, but its own limit and count. */
export function openCall({ now }: Services, exchange: Exchange, row: Operation): Call {
  return {
    ...exchange,
    row,
    route: row.path,
    path: undefined,
    now: now(),
    startedAt: performance.now(),
    listedOrigin: null,
    caller: null,
    requestCounter: null,
    meter: null,
    charge: null,
  }
}

/**
 * Performs an operation as a request to it would. `admit` sets the caller and charges the limit. Throws the
 * ApiError that such a request is answered with.
 */
export async function performWithin(
  { services, handlers }: Api,
  call: Call,
  given: Given,
  admit: () => Promise<void>,
): Promise<AnyReply> {
  try {
    await admit()
    const input = readInput(call.row, given)
    await chargeBody(services, call, input.body)
    const reply = await perform(services, handlerOf(handlers, call.row), call, input)
    observe(services, call, reply.status)
    return reply
  } catch (error) {
    const shown = toPublicError(services, call, error)
    observe(services, call, shown.status)
    throw shown
  }
}

/** Counts a call and its time, without a line of its own in the log. */
function observe({ requestTimes }: Services, call: Call, status: number): void {
  const { row, startedAt } = call
  requestTimes.observe(row.path, row.method.toUpperCase(), status, performance.now() - startedAt)
  countUse(call, status)
}

/** Parses what is given by the row. Throws BAD_REQUEST like a request with the same values. */
export function readInput(
  row: Operation,
  { params = {}, query = {}, body, acceptLanguage, isHead = false }: Given,
): Input {
  const search = new URLSearchParams(query)
  const names = [...search.keys()]
  return {
    params,
    query: readQuery(row, {
      query: () => Object.fromEntries(names.map((name) => [name, search.get(name) ?? ''])),
      queries: () => Object.fromEntries(names.map((name) => [name, search.getAll(name)])),
    }),
    headers: undefined,
    body: row.body && readValue(row.body, body),
    form: 'application/json',
    acceptLanguage,
    clientHeader: undefined,
    isHead,
  }
}

/** Reads the value as the JSON that a request would carry, with the same limit and without absent fields. */
function readValue(body: Body, value: unknown): unknown {
  const text = value === undefined ? '' : JSON.stringify(value)
  return parseBody(body, limitBytes(Buffer.from(text), body.maxBytes ?? MAX_BODY_BYTES))
}

/** The body of a reply as text; '' if it has none. */
export function textOf(reply: AnyReply): string {
  if ('file' in reply) throw new Error(`The file ${reply.name} is not text`)
  if ('body' in reply) return reply.body === undefined ? '' : JSON.stringify(reply.body)
  const text = 'json' in reply ? reply.json : reply.text
  return reply.bytesAfter === undefined ? text : `${text}${Buffer.concat(reply.bytesAfter)}`
}
