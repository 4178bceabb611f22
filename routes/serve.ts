import type { Caller } from '../lib/access/authenticate.ts'
import type { Address } from '../lib/address.ts'
import type { Operation } from '../lib/contract/operation.ts'
import type { Services } from '../lib/services/services.ts'
import { admit, readBody, readHeaders, readQuery } from './admit.ts'
import type { Asked } from './context.ts'
import { charge, chargeBody } from './limit.ts'
import type { Answer } from './respond.ts'
import { answer, answerError, openVisit, type Visit } from './visit.ts'

/** A handler as the router calls it; context.ts has proved that its types are those of its row. */
export type AnyHandler = (call: AnyCall) => AnyReply | Promise<AnyReply>

interface AnyCall {
  readonly requestId: string
  readonly now: number
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
  readonly headers: unknown
  readonly body: unknown
  readonly caller: Caller | null
  readonly clientAddress: Address | null
  readonly degraded: boolean
}

type AnyReply =
  | { readonly status: number; readonly body: unknown }
  | { readonly status: number; readonly json: string }

/**
 * The way of every request to an operation: caller, query, body, handler, answer, log line. Nothing
 * is awaited where nothing has to be: each turn of the microtask queue costs about a microsecond.
 */
export function serve(services: Services, row: Operation, handler: AnyHandler) {
  const route = { services, row, handler }
  return (c: Asked): Answer | Promise<Answer> => {
    const visit = openVisit(services, c, { row })
    try {
      const caller = admit(services, row, c, visit)
      const answered =
        caller instanceof Promise
          ? caller.then((later) => proceed(route, c, visit, later))
          : proceed(route, c, visit, caller)
      if (!(answered instanceof Promise)) return answered
      return answered.catch((error) => answerError(services, visit, error))
    } catch (error) {
      return answerError(services, visit, error)
    }
  }
}

interface Route {
  readonly services: Services
  readonly row: Operation
  readonly handler: AnyHandler
}

/** The way from the caller on. */
function proceed(route: Route, c: Asked, visit: Visit, caller: Caller | null) {
  visit.caller = caller
  charge(route.services, visit)
  const reply = callHandler(route, visit, c)
  if (!(reply instanceof Promise)) return answerReply(route.services, visit, reply)
  return reply.then((later) => answerReply(route.services, visit, later))
}

function callHandler(route: Route, visit: Visit, c: Asked) {
  const { services, row, handler } = route
  const call = {
    requestId: visit.requestId,
    now: visit.now,
    params: c.req.param(),
    query: readQuery(row, c),
    headers: readHeaders(row, c),
    body: undefined,
    caller: visit.caller,
    clientAddress: visit.client === null ? null : visit.client.address,
    degraded: isDegraded(services, visit),
  }
  const { raw } = c.req
  if (row.body === undefined || raw === undefined) return handler(call)
  return readBody(row.body, raw).then((body) => callWithBody(route, visit, c, { ...call, body }))
}

/** A body may come slowly: what was good when it began to come may be revoked since. */
async function callWithBody(route: Route, visit: Visit, c: Asked, call: AnyCall) {
  visit.caller = await admit(route.services, route.row, c, visit)
  chargeBody(route.services, visit, call.body)
  return route.handler({ ...call, caller: visit.caller })
}

function isDegraded({ meters }: Services, { row, caller, now }: Visit): boolean {
  return row?.metered === true && caller !== null && meters.isOverCap(caller, now)
}

function answerReply(services: Services, visit: Visit, reply: AnyReply): Answer {
  count(services, visit, reply.status)
  if ('json' in reply) return answer(services, visit, reply)
  const json = reply.body === undefined ? null : JSON.stringify(reply.body)
  return answer(services, visit, { status: reply.status, json })
}

/** A metered request counts once it is answered, found or not. */
function count({ meters }: Services, { row, caller, now }: Visit, status: number): void {
  if (row?.metered !== true || caller === null) return
  if (status === 200 || status === 404) meters.count(caller, now)
}
