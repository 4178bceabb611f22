import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import { nameRuntime } from '../config/runtime.ts'
import { answerParsed } from './answer-parsed.ts'
import { type AnswerUnreadable, answerClientErrors } from './client-error.ts'
import { type ConnectionLimits, limitConnections, type OpenConnections } from './connections.ts'
import { installFastPath } from './fast-path/fast-path.ts'
import { MAX_UNANSWERED } from './fast-path/feed.ts'
import { LIMITS } from './http-limits.ts'
import { limitPipelining } from './limit-pipelining.ts'
import { resetSlowReaders } from './slow-readers.ts'
import type { AnswerWhole } from './whole-request.ts'

export interface HttpServerOptions {
  readonly connections: ConnectionLimits
  readonly answerUnreadable: AnswerUnreadable
  /** For the requests that are read whole, without node:http. `serve` answers all others. */
  readonly answerWhole: AnswerWhole
}

const IS_BUN = nameRuntime(process.versions) === 'bun'

/** How much clients may leave unread, and for how long. */
const READERS = { maxWaitMs: 30_000, maxBytes: 64 * 1024 * 1024, checkEveryMs: 1_000 } as const

/** Returns a server of node:http, not yet listening, that limits what each client may use. */
export function createHttpServer(
  serve: RequestListener,
  { connections, answerUnreadable, answerWhole }: HttpServerOptions,
): Server {
  const server = createServer({ ...LIMITS, ServerResponse: BatchedResponse })
  const waiting = serveExpectations(answerParsed(answerWhole, serveAsterisk(serve)))
  const limited = IS_BUN ? limitPipelining(server, waiting, MAX_UNANSWERED) : waiting
  // limitPipelining and serveHttp10 must see requests in the order of arrival, so they wrap `waiting`.
  server.on('request', serveHttp10(limited))
  // Only the size is limited: with a maximum count node:http would silently drop headers.
  server.maxHeadersCount = 0
  // Expectations other than 100-continue may be ignored.
  server.on('checkExpectation', (...request) => server.emit('request', ...request))
  answerClientErrors(server, answerUnreadable)
  const open = limitConnections(server, connections)
  installFastPath(server, answerWhole)
  resetSlowReaders(server, open, READERS)
  closeAllOf(server, open)
  return server
}

/** Makes `closeAllConnections` close those, too, that node:http no longer knows, such as after CONNECT. */
function closeAllOf(server: Server, open: OpenConnections): void {
  const closeKnown = server.closeAllConnections.bind(server)
  server.closeAllConnections = () => {
    closeKnown()
    for (const socket of open.keys()) socket.destroy()
  }
}

/**
 * Wraps `listener` so that a request with the header Expect waits until earlier requests of its
 * connection are answered. Otherwise its own answer would be queued, and node:http would put 100
 * Continue between the head and the body of that answer.
 */
export function serveExpectations(listener: RequestListener): RequestListener {
  return (request, response) => {
    if (request.headers.expect === undefined || response.socket !== null) {
      listener(request, response)
      return
    }
    // node:http sends 100 Continue right after this event.
    response.once('socket', () => queueMicrotask(() => listener(request, response)))
  }
}

/**
 * Wraps `listener` so that it can serve HTTP/1.0. Such a request needs no Host: health checks of load
 * balancers omit it. If it has Transfer-Encoding, it is the last request of its connection, because its
 * end is ambiguous: RFC 9112 section 6.1. A request with Upgrade is also the last: node:http drops the rest.
 */
export function serveHttp10(listener: RequestListener): RequestListener {
  const ending = new WeakSet<Socket>()
  return (request, response) => {
    if (ending.has(request.socket)) return
    const { headers, httpVersion, socket } = request
    if (httpVersion === '1.0') headers.host ??= 'localhost'
    const isUnbounded = httpVersion !== '1.1' && headers['transfer-encoding'] !== undefined
    if (isUnbounded || headers.upgrade !== undefined) {
      ending.add(socket)
      response.shouldKeepAlive = false
    }
    listener(request, response)
  }
}

type End = Parameters<ServerResponse['end']>

/**
 * Writes all responses of one turn of the event loop together at its end. Under load this wakes the
 * clients less often and uses the processor's caches better. Without load nothing waits.
 */
export class BatchedResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  static #ended: BatchedResponse[] = []
  #end: Partial<End> = []

  override end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
    if (BatchedResponse.#ended.length === 0) setImmediate(BatchedResponse.#endAll)
    // safe: passed on unchanged; ServerResponse has typed the caller
    this.#end = [chunk, encoding, callback] as Partial<End>
    BatchedResponse.#ended.push(this)
    return this
  }

  static #endAll(): void {
    const ended = BatchedResponse.#ended
    BatchedResponse.#ended = []
    for (const response of ended) {
      const end = response.#end
      // A connection remembers its last responses, but must not keep their bodies.
      response.#end = []
      // safe: ServerResponse handles omitted arguments
      response.#endNow(...(end as End))
    }
  }

  #endNow(...end: End): void {
    super.end(...end)
  }
}

/** Turns `OPTIONS *`, which asks about the whole server, into `OPTIONS /`, which is routed. */
function serveAsterisk(listener: RequestListener): RequestListener {
  return (request, response) => {
    if (request.method === 'OPTIONS' && request.url === '*') request.url = '/'
    listener(request, response)
  }
}
