import type { Caller } from '../lib/access/authenticate.ts'
import type { Client } from '../lib/access/client-address.ts'
import type { Operation } from '../lib/contract/operation.ts'
import { isFault } from '../lib/db/fault.ts'
import { ApiError } from '../lib/errors.ts'
import type { Services } from '../lib/services/services.ts'
import { parseTraceparent, type TraceContext } from '../lib/trace-context.ts'
import type { Asked } from './context.ts'
import { corsHeaders } from './cors.ts'
import { type Charge, setLimitHeaders } from './limit-headers.ts'
import { type Answer, baseHeaders, errorJson, type Headers } from './respond.ts'

/** One request on its way through the service. */
export interface Visit {
  readonly requestId: string
  readonly method: string
  /** The operation asked for; undefined where the path or the method is none of ours. */
  readonly row: Operation | undefined
  /** What the log calls the path; undefined where it is none of ours. */
  readonly route: string | undefined
  /** Epoch milliseconds. */
  readonly now: number
  /** Monotonic milliseconds, for the duration. */
  readonly startedAt: number
  readonly client: Client | null
  /** null: the caller tells of none. */
  readonly trace: TraceContext | null
  caller: Caller | null
  /** The limit that it was charged to; null: none. */
  charge: Charge | null
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i

/** Begins a visit to an operation, to a route that is none, or to nothing of ours. */
export function openVisit(
  services: Services,
  c: Asked,
  { row, route = row?.path }: { row?: Operation; route?: string } = {},
): Visit {
  const given = c.req.header('x-request-id')
  const traceparent = c.req.header('traceparent')
  return {
    requestId: given !== undefined && UUID.test(given) ? given : crypto.randomUUID(),
    method: c.req.method,
    row,
    route,
    now: services.now(),
    startedAt: performance.now(),
    client: services.findClient(c.env?.remoteAddress, () => c.req.header('x-forwarded-for')),
    trace: traceparent === undefined ? null : parseTraceparent(traceparent),
    caller: null,
    charge: null,
  }
}

/**
 * Answers the visit and logs it. The answer is made with all its headers at once: setting one on a
 * finished Response costs more than the whole look-up. `json` null: no body.
 */
export function answer(
  services: Services,
  visit: Visit,
  { status, json, headers }: { status: number; json: string | null; headers?: Readonly<Headers> },
): Answer {
  logVisit(services, visit, status)
  const { requestId, row, caller } = visit
  const sent = baseHeaders(requestId)
  const cors = row === undefined ? null : corsHeaders(row, caller === null ? null : caller.origin)
  if (cors !== null) Object.assign(sent, cors)
  if (visit.charge !== null) setLimitHeaders(sent, visit.charge)
  if (isTimed(visit)) sent['server-timing'] = serverTiming(visit)
  if (headers !== undefined) Object.assign(sent, headers)
  return { status, headers: sent, json }
}

/**
 * Whether the answer tells how long it took: to callers who are known alone, since a stranger could
 * learn from it what is slow; and not to look-ups, where it would cost as much as the look-up.
 */
function isTimed({ row, caller }: Visit): boolean {
  return caller !== null && row?.access !== 'geo:read'
}

/** The header of W3C Server Timing, in milliseconds; no finer, since that would tell too much. */
function serverTiming({ startedAt }: Visit): string {
  return `total;dur=${(performance.now() - startedAt).toFixed(1)}`
}

/** Ends the visit: it is logged and counted. */
export function logVisit({ log, requestTimes }: Services, visit: Visit, status: number): void {
  const { now, requestId, method, route, startedAt, caller, client, trace } = visit
  const ms = performance.now() - startedAt
  requestTimes.observe(route, method, status, ms)
  log.request({
    time: now,
    requestId,
    method,
    route,
    status,
    ms,
    key: caller?.key?.prefix,
    client: client?.network,
    traceId: trace?.traceId,
    parentId: trace?.parentId,
  })
}

/** Answers the visit with an error. */
export function answerError(
  services: Services,
  visit: Visit,
  error: unknown,
  headers: Readonly<Headers> = {},
): Answer {
  const shown = toShown(services, visit, error)
  const json = errorJson(shown, visit.requestId)
  return answer(services, visit, {
    status: shown.status,
    json,
    headers: { ...headers, ...shown.headers },
  })
}

/** What the caller is told of an error. What is no ApiError is logged, and its message not shown. */
export function toShown({ log }: Services, { requestId }: Visit, error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (isFault(error)) {
    log.error({ requestId, err: error }, 'cannot use the database')
    return new ApiError('SERVICE_UNAVAILABLE', 'The database cannot be used now; try again later')
  }
  log.error({ requestId, err: error }, 'unexpected error')
  return new ApiError('INTERNAL', 'Internal error')
}
