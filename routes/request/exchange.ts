import type { Caller } from '../../lib/access/authenticate.ts'
import type { Client } from '../../lib/access/client-address.ts'
import type { Operation } from '../../lib/contract/operation.ts'
import { isFault } from '../../lib/db/fault.ts'
import type { Meter } from '../../lib/limits/meter.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import type { Services } from '../../lib/services/services.ts'
import type { RequestCounter } from '../../lib/usage/request-counts.ts'
import type { HeadContext } from '../context.ts'
import { corsHeaders, isForListedOrigins } from './cors.ts'
import { type Charge, setLimitHeaders } from './limit-headers.ts'
import { type Answer, baseHeaders, errorJson, type Headers } from './respond.ts'

const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/
const ZEROS = /^0+$/

const SHOWN_SEGMENTS = 2
/** The length of the prefix of a key, which the log may show. */
const MAX_SEGMENT_LENGTH = 16
/** IPv4 and IPv6 addresses, which may be the client's. */
const ADDRESSES = /\d+(\.\d+){3}|[\da-f]*:[\da-f.:]*:[\da-f.:]*/gi

/** What it takes to begin, log and answer an exchange. */
export interface ExchangeParts extends Pick<Services, 'baseUrl' | 'config' | 'now' | 'findClient'> {
  readonly log: Pick<Services['log'], 'request' | 'error'>
  readonly requestTimes: Pick<Services['requestTimes'], 'observe'>
}

/** A request and what is known about it while it is being answered. */
export interface Exchange {
  readonly requestId: string
  readonly method: string
  /** undefined if the path or the method belongs to no operation. */
  readonly row: Operation | undefined
  /** The name of the path in the log; undefined for unknown paths. */
  readonly route: string | undefined
  /** The beginning of an unknown path, for the log; undefined for known paths. */
  readonly path: string | undefined
  /** Epoch milliseconds. */
  readonly now: number
  /** Monotonic milliseconds, for the duration. */
  readonly startedAt: number
  readonly client: Client | null
  /** null if the caller sent none. */
  readonly trace: TraceContext | null
  /** The origin of the page that sent the request, if `MERIDIAN_CORS_ORIGINS` lists it. */
  readonly listedOrigin: string | null
  caller: Caller | null
  /** Counts the answer. null for an unknown credential, or for the dashboard's own calls. */
  requestCounter: RequestCounter | null
  /** null if the request is not charged to the caller's plan. */
  meter: Meter | null
  /** The limit that was charged; null if none was. */
  charge: Charge | null
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i

interface Target {
  readonly row?: Operation
  readonly route?: string | undefined
  readonly path?: string | undefined
}

/** Begins an exchange with an operation (`row`), a page or script (`route`), or an unknown `path`. */
export function openExchange(
  services: ExchangeParts,
  c: HeadContext,
  { row, route = row?.path, path }: Target = {},
): Exchange {
  const given = c.req.header('x-request-id')
  const traceparent = c.req.header('traceparent')
  return {
    requestId: given !== undefined && UUID.test(given) ? given : crypto.randomUUID(),
    method: c.req.method,
    row,
    route,
    path: route === undefined && path !== undefined ? beginningOf(path) : undefined,
    now: services.now(),
    startedAt: performance.now(),
    client: services.findClient(c.env?.remoteAddress, c.req),
    trace: traceparent === undefined ? null : parseTraceparent(traceparent),
    listedOrigin: row !== undefined && isForListedOrigins(row) ? findListed(services, c) : null,
    caller: null,
    requestCounter: null,
    meter: null,
    charge: null,
  }
}

function findListed({ config: { corsOrigins } }: ExchangeParts, c: HeadContext): string | null {
  if (corsOrigins.length === 0) return null
  const origin = c.req.header('origin')
  return corsOrigins.find((listed) => listed === origin) ?? null
}

interface Content extends Pick<Answer, 'status' | 'json' | 'bytesAfter'> {
  readonly headers?: Readonly<Headers>
}

/** Answers the request and logs it. */
export function answer(services: ExchangeParts, exchange: Exchange, content: Content): Answer {
  logExchange(services, exchange, content.status)
  return toAnswer(exchange, content)
}

/** All headers are set here: setting one on a finished Response costs more than the whole look-up. */
export function toAnswer(
  exchange: Exchange,
  { status, json, bytesAfter, headers }: Content,
): Answer {
  const { requestId, row, caller } = exchange
  const sent = baseHeaders(requestId)
  if (json === null) delete sent['content-type']
  const cors = corsHeaders(row, status, caller?.origin ?? exchange.listedOrigin)
  if (cors !== null) Object.assign(sent, cors)
  if (exchange.charge !== null) setLimitHeaders(sent, exchange.charge)
  if (isTimed(exchange)) sent['server-timing'] = serverTiming(exchange)
  if (headers !== undefined) addHeaders(sent, headers)
  return { status, headers: sent, json, bytesAfter }
}

/** Of the headers of an answer, only Vary may come from two sides. */
function addHeaders(sent: Headers, headers: Readonly<Headers>): void {
  const { vary } = sent
  Object.assign(sent, headers)
  if (vary !== undefined && headers['vary'] !== undefined)
    sent['vary'] = `${vary}, ${headers['vary']}`
}

/**
 * Whether the answer says how long it took. Anonymous clients could learn from it which requests
 * are slow. On look-ups the header would cost as much as the look-up.
 */
function isTimed({ row, caller }: Exchange): boolean {
  return caller !== null && row?.access !== 'geo:read'
}

/** W3C Server Timing, in milliseconds. Finer figures would reveal too much. */
function serverTiming({ startedAt }: Exchange): string {
  return `total;dur=${(performance.now() - startedAt).toFixed(1)}`
}

/** Logs and counts a finished exchange. A stranger who goes over a limit again and again fills no log. */
export function logExchange(
  { log, requestTimes }: ExchangeParts,
  exchange: Exchange,
  status: number,
): void {
  const { now, requestId, method, route, path, startedAt, caller, client, trace } = exchange
  const ms = performance.now() - startedAt
  requestTimes.observe(route, method, status, ms)
  countUse(exchange, status)
  if (caller === null && exchange.charge?.state.isRepeated === true) return
  log.request({
    time: now,
    requestId,
    method,
    route,
    path,
    status,
    ms,
    key: caller?.key?.prefix,
    client: client?.network,
    traceId: trace?.traceId,
    parentId: trace?.parentId,
  })
}

/** Counts an answer to a known credential, by operation and status. */
export function countUse({ row, requestCounter, meter, now }: Exchange, status: number): void {
  if (row === undefined) return
  const lookUps = meter?.counted ?? 0
  requestCounter?.count({ operation: row.id, status, requests: 1, lookUps }, now)
}

/** Answers the request with an error. */
export function answerError(
  services: ExchangeParts,
  exchange: Exchange,
  error: unknown,
  headers: Readonly<Headers> = {},
): Answer {
  const shown = toPublicError(services, exchange, error)
  const json = errorJson(shown, exchange, services.baseUrl())
  return answer(services, exchange, {
    status: shown.status,
    json,
    headers: { ...headers, ...shown.headers },
  })
}

/** Returns the error that the caller sees. Logs errors that are not ApiErrors and hides their message. */
export function toPublicError(
  { log }: Pick<ExchangeParts, 'log'>,
  { requestId }: Exchange,
  error: unknown,
): ApiError {
  if (error instanceof ApiError) return error
  if (isFault(error)) {
    log.error({ requestId, err: error }, 'cannot use the database')
    return new ApiError('SERVICE_UNAVAILABLE', 'The database cannot be used now; try again later')
  }
  log.error({ requestId, err: error }, 'unexpected error')
  return new ApiError('INTERNAL', 'Internal error')
}

/**
 * The beginning of an unknown path for the log, such as `/wp-admin/setup.php`: two segments without
 * addresses, cut so that a key in them stays secret.
 */
export function beginningOf(path: string): string {
  const segments = path.split('/').slice(1)
  const shown = segments.slice(0, SHOWN_SEGMENTS).map(shorten)
  return `/${[...shown, ...(segments.length > SHOWN_SEGMENTS ? ['…'] : [])].join('/')}`
}

/** Trace and parent span that the caller sent. */
type TraceContext = NonNullable<ReturnType<typeof parseTraceparent>>

/**
 * Parses the header `traceparent` (W3C Trace Context, section 3.2); null if it is invalid. Versions
 * after 00 may append fields, which are ignored.
 */
export function parseTraceparent(text: string) {
  const [, version, traceId = '', parentId = '', more] = TRACEPARENT.exec(text) ?? []
  if (version === undefined || (version === '00' && more !== undefined)) return null
  return ZEROS.test(traceId) || ZEROS.test(parentId) ? null : { traceId, parentId }
}

function shorten(segment: string): string {
  const text = segment.replaceAll(ADDRESSES, '{address}')
  return text.length > MAX_SEGMENT_LENGTH ? `${text.slice(0, MAX_SEGMENT_LENGTH)}…` : text
}
