import { createServer, type RequestListener, type Server } from 'node:http'
import { nameRuntime } from '../config/runtime.ts'
import { BatchedResponse } from './batched-response.ts'
import { type AnswerUnreadable, answerClientErrors } from './client-error.ts'
import { type ConnectionLimits, limitConnections } from './connections.ts'
import { serveExpectations } from './expectations.ts'
import { installFastPath } from './fast-path/fast-path.ts'
import { MAX_UNANSWERED } from './fast-path/feed.ts'
import { LIMITS } from './http-limits.ts'
import { serveHttp10 } from './http10.ts'
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
  const waiting = serveExpectations(serveAsterisk(serve))
  const limited = IS_BUN ? limitPipelining(server, waiting, MAX_UNANSWERED) : waiting
  // limitPipelining and serveHttp10 must see requests in the order of arrival, so they wrap `waiting`.
  server.on('request', serveHttp10(limited))
  // Only the size is limited: with a maximum count node:http would silently drop headers.
  server.maxHeadersCount = 0
  // Expectations other than 100-continue may be ignored.
  server.on('checkExpectation', (...request) => server.emit('request', ...request))
  answerClientErrors(server, answerUnreadable)
  limitConnections(server, connections)
  installFastPath(server, answerWhole)
  resetSlowReaders(server, READERS)
  return server
}

/** Turns `OPTIONS *`, which asks about the whole server, into `OPTIONS /`, which is routed. */
function serveAsterisk(listener: RequestListener): RequestListener {
  return (request, response) => {
    if (request.method === 'OPTIONS' && request.url === '*') request.url = '/'
    listener(request, response)
  }
}
