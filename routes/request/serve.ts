import type { Caller } from '../../lib/access/authenticate.ts'
import { formsOf, type MediaType, type Operation } from '../../lib/contract/operation.ts'
import { ApiError } from '../../lib/errors.ts'
import type { Address } from '../../lib/net/address.ts'
import type { Services } from '../../lib/services/services.ts'
import type { FileReply, HeadContext, RequestContext, TextReply } from '../context.ts'
import { admit, admitKey, readBody, readHeaders, readQuery } from './admit.ts'
import { chooseForm } from './choose-form.ts'
import { answer, answerError, type Exchange, openExchange } from './exchange.ts'
import {
  addressId,
  charge,
  chargeBody,
  chargeOrAsk,
  mustAsk,
  runWithinSuccessLimit,
} from './limit.ts'
import type { Answer } from './respond.ts'

/** A handler without the types of its row. `Handlers` in context.ts checks those. */
export type AnyHandler = (call: AnyCall) => AnyReply | Promise<AnyReply>

/** The handler of a look-up. */
export type SyncHandler = (call: AnyCall) => AnyReply

interface AnyCall {
  readonly requestId: string
  readonly now: number
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
  readonly headers: unknown
  readonly body: unknown
  readonly form: MediaType
  readonly caller: Caller | null
  readonly clientAddress: Address | null
  readonly degraded: boolean
  readonly tally: { lookUps: number }
}

type Input = Pick<AnyCall, 'params' | 'query' | 'headers' | 'body' | 'form'>

type AnyReply = AnyBody & { readonly headers?: Readonly<Record<string, string>> }

type AnyBody =
  | { readonly status: number; readonly body: unknown }
  | { readonly status: number; readonly json: string; readonly rest?: readonly Uint8Array[] }
  | (TextReply & { readonly status: number })
  | (FileReply & { readonly status: number })

/** Returns the function that answers all requests to an operation. */
export function serve(services: Services, row: Operation, handler: AnyHandler) {
  const forms = formsOf(row)
  return async (c: RequestContext): Promise<Answer> => {
    const exchange = openExchange(services, c, { row })
    try {
      exchange.caller = await admit(services, row, c, exchange)
      await loadCounts(services, exchange)
      await chargeOrAsk(services, exchange)
      const parts = { query: readQuery(row, c), headers: readHeaders(row, c), body: undefined }
      const form = chooseForm(forms, c.req.header('accept'))
      let call = toCall(services, exchange, { params: c.req.param(), form, ...parts })
      if (row.body !== undefined) {
        const body = await readBodyInQueue(services, row, exchange, c)
        // Reading the body may take long, and the credential may be revoked in that time.
        exchange.caller = await admit(services, row, c, exchange)
        await chargeBody(services, exchange, body)
        call = { ...call, body, caller: exchange.caller }
      }
      const reply = await runWithinSuccessLimit(services, exchange, row, () => handler(call))
      return answerReply(services, exchange, reply)
    } catch (error) {
      return answerError(services, exchange, error)
    }
  }
}

/** Loads the counts of the caller; returns undefined if they are in memory. */
function loadCounts({ meters }: Services, { caller, now }: Exchange): Promise<void> | undefined {
  return caller === null ? undefined : meters.load(caller, now)
}

/** Reads the body. Where no rate limit applies, reads only a few bodies per address at a time. */
export async function readBodyInQueue(
  { freeBodies }: Services,
  { body, limit }: Pick<Operation, 'body' | 'limit'>,
  exchange: Exchange,
  c: RequestContext,
): Promise<unknown> {
  if (body === undefined || limit !== 'none') return body && readBody(body, c)
  const read = await freeBodies.run(addressId(exchange), async () => ({
    content: await readBody(body, c),
  }))
  if (read !== null) return read.content
  throw new ApiError(
    'SERVICE_UNAVAILABLE',
    'Too many requests from this address are waiting; try again later',
  )
}

const NO_INPUT = {
  headers: undefined,
  body: undefined,
  form: 'application/json',
} as const

/**
 * Like `serve`, but synchronous, so that the fast path can send the answer at once. The request must have an
 * API key, a query that the caller has checked, and no body. Returns null if something must be loaded first.
 */
export function serveKeyed(services: Services, row: Operation, handler: SyncHandler) {
  return (c: HeadContext, input: Pick<AnyCall, 'params' | 'query'>): Answer | null => {
    const exchange = openExchange(services, c, { row })
    try {
      exchange.caller = admitKey(services, row, c, exchange)
      if (loadCounts(services, exchange) !== undefined || mustAsk(services, exchange)) return null
      charge(services, exchange)
      const call = toCall(services, exchange, { ...input, ...NO_INPUT })
      return answerReply(services, exchange, handler(call))
    } catch (error) {
      return answerError(services, exchange, error)
    }
  }
}

function toCall(
  services: Services,
  exchange: Exchange,
  { params, query, headers, body, form }: Input,
): AnyCall {
  return {
    requestId: exchange.requestId,
    now: exchange.now,
    params,
    query,
    headers,
    body,
    form,
    caller: exchange.caller,
    clientAddress: exchange.client === null ? null : exchange.client.address,
    degraded: isDegraded(services, exchange),
    tally: exchange,
  }
}

function isDegraded({ meters }: Services, { row, caller, now }: Exchange): boolean {
  return row?.metered === true && caller !== null && meters.isOverCap(caller, now)
}

function answerReply(services: Services, exchange: Exchange, reply: AnyReply): Answer {
  count(services, exchange, reply.status)
  if ('file' in reply) return answerFile(services, exchange, reply)
  if ('json' in reply) return answer(services, exchange, reply)
  if ('form' in reply) {
    const { status, form, text: json, rest } = reply
    const isJson = form === 'application/json'
    const type = isJson ? {} : { 'content-type': `${form}; charset=utf-8` }
    return answer(services, exchange, {
      status,
      json,
      rest,
      headers: { ...reply.headers, ...type },
    })
  }
  const json = reply.body === undefined ? null : JSON.stringify(reply.body)
  return answer(services, exchange, { ...reply, json })
}

function answerFile(
  services: Services,
  exchange: Exchange,
  { status, file, name }: FileReply & { readonly status: number },
): Answer {
  const type = exchange.row?.replies[status]?.file ?? 'application/octet-stream'
  const headers = {
    'content-type': type,
    'content-disposition': `attachment; filename="${name}"`,
  }
  return { ...answer(services, exchange, { status, json: null, headers }), file }
}

/** Counts a request to a metered operation, whether or not the look-up found something. */
function count({ meters }: Services, exchange: Exchange, status: number): void {
  const { row, caller, now } = exchange
  if (row?.metered !== true || caller === null) return
  if (status !== 200 && status !== 404) return
  meters.count(caller, now)
  exchange.lookUps = 1
}
