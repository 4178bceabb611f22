import { formsOf, type Operation } from '../../lib/contract/operation.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import type { Services } from '../../lib/services/services.ts'
import type { FileReply, HeadContext, RequestContext } from '../context.ts'
import { admit, admitKey, type KeyParts, readBody, readHeaders, readQuery } from './admit.ts'
import {
  answerError,
  type Exchange,
  type ExchangeParts,
  logExchange,
  openExchange,
  toAnswer,
} from './exchange.ts'
import {
  addressId,
  charge,
  chargeBody,
  chargeOrAsk,
  type LimitParts,
  type MeterParts,
  mustAsk,
  openMeter,
} from './limit.ts'
import { chooseForm } from './negotiate.ts'
import {
  type AnyCall,
  type AnyHandler,
  type AnyReply,
  countLookUp,
  perform,
  toCall,
} from './perform.ts'
import { performOnce } from './perform-once.ts'
import type { Answer } from './respond.ts'

/** What it takes to answer a request with a key at once. */
export interface KeyedParts extends ExchangeParts, KeyParts, LimitParts, MeterParts {
  readonly meters: Pick<Services['meters'], 'load' | 'open'>
}

/** The handler of a look-up. */
export type SyncHandler = (call: AnyCall) => AnyReply

/** Returns the function that answers all requests to an operation. */
export function serve(services: Services, row: Operation, handler: AnyHandler) {
  const forms = formsOf(row)
  return async (c: RequestContext): Promise<Answer> => {
    const exchange = openExchange(services, c, { row })
    try {
      await admitAndCharge(services, row, c, exchange)
      const query = readQuery(row, c.req)
      const headers = readHeaders(row, c)
      const form = chooseForm(forms, c.req.header('accept'))
      const body = row.body && (await readAdmittedBody(services, row, c, exchange))
      const acceptLanguage = c.req.header('accept-language')
      const clientHeader = c.req.header(services.config.clientHeader)
      const params = c.req.param()
      const isHead = c.req.method === 'HEAD'
      const input = { params, query, headers, body, form, acceptLanguage, clientHeader, isHead }
      const act = () => perform(services, handler, exchange, input)
      const reply = await performOnce(services, exchange, c, { input, act })
      return answerReply(services, exchange, reply)
    } catch (error) {
      return answerError(services, exchange, error)
    }
  }
}

/** Checks the credential, and charges the limit. Throws if the request is not admitted. */
export async function admitAndCharge(
  services: Services,
  row: Operation,
  c: HeadContext,
  exchange: Exchange,
): Promise<void> {
  exchange.caller = await admit(services, row, c, exchange)
  await loadCounts(services, exchange)
  exchange.meter = openMeter(services, exchange)
  await chargeOrAsk(services, exchange)
}

/** Reads the body, and charges the requests that it counts for. */
async function readAdmittedBody(
  services: Services,
  row: Operation,
  c: RequestContext,
  exchange: Exchange,
): Promise<unknown> {
  const body = await readBodyInQueue(services, row, exchange, c)
  // Reading the body may take long, and the credential may be revoked in that time.
  exchange.caller = await admit(services, row, c, exchange)
  exchange.meter = openMeter(services, exchange)
  await chargeBody(services, exchange, body)
  return body
}

/** Loads the counts of the caller; returns undefined if they are in memory. */
export function loadCounts(
  { meters }: { readonly meters: Pick<Services['meters'], 'load'> },
  { caller, now }: Exchange,
): Promise<void> | undefined {
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

/** The input of a request with a key that is answered at once. */
interface KeyedInput extends Pick<AnyCall, 'params'> {
  /** Called once the key is admitted; null: the router must answer. */
  readonly readQuery: () => unknown
}

const NO_INPUT = {
  headers: undefined,
  body: undefined,
  acceptLanguage: undefined,
  isHead: false,
  clientHeader: undefined,
} as const

/**
 * Like `serve`, but synchronous, so that the answer can be sent at once. The request must have an API key, and no
 * body. Returns null if something must be loaded first, or if `readQuery` does: nothing is charged then.
 */
export function serveKeyed(services: KeyedParts, row: Operation, handler: SyncHandler) {
  const forms = formsOf(row)
  return (c: HeadContext, { params, readQuery }: KeyedInput): Answer | null => {
    const exchange = openExchange(services, c, { row })
    try {
      exchange.caller = admitKey(services, row, c, exchange)
      const query = readQuery()
      if (query === null || loadCounts(services, exchange) !== undefined) return null
      exchange.meter = openMeter(services, exchange)
      if (mustAsk(services, exchange)) return null
      charge(services, exchange)
      const form = chooseForm(forms, c.req.header('accept'))
      const reply = handler(toCall(exchange, { params, query, ...NO_INPUT, form }))
      countLookUp(exchange)
      return answerReply(services, exchange, reply)
    } catch (error) {
      return answerError(services, exchange, error)
    }
  }
}

function answerReply(services: ExchangeParts, exchange: Exchange, reply: AnyReply): Answer {
  logExchange(services, exchange, reply.status)
  return toReplyAnswer(exchange, reply)
}

/** Turns a reply into an answer, which is not logged yet. */
export function toReplyAnswer(exchange: Exchange, reply: AnyReply): Answer {
  if ('file' in reply) return toFileAnswer(exchange, reply)
  if ('json' in reply) return toAnswer(exchange, reply)
  if ('form' in reply) {
    const { status, form, text: json, bytesAfter } = reply
    const isJson = form === 'application/json'
    const type = isJson ? {} : { 'content-type': `${form}; charset=utf-8` }
    return toAnswer(exchange, { status, json, bytesAfter, headers: { ...reply.headers, ...type } })
  }
  const json = reply.body === undefined ? null : JSON.stringify(reply.body)
  return toAnswer(exchange, { ...reply, json })
}

function toFileAnswer(
  exchange: Exchange,
  { status, file, name }: FileReply & { readonly status: number },
): Answer {
  const type = exchange.row?.replies[status]?.file ?? 'application/octet-stream'
  const headers = {
    'content-type': type,
    'content-disposition': `attachment; filename="${name}"`,
  }
  return { ...toAnswer(exchange, { status, json: null, headers }), file }
}
