import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server'
import type { Unreadable } from '../lib/http/client-error.ts'
import { createHttpServer } from '../lib/http/http-server.ts'
import type { AnswerWhole } from '../lib/http/whole-request.ts'
import { ApiError } from '../lib/parts/errors.ts'
import { throttle } from '../lib/parts/log/throttle.ts'
import type { Services } from '../lib/services/services.ts'
import { createApp } from './app.ts'
import type { HeadContext } from './context.ts'
import { answerError, openExchange } from './request/exchange.ts'
import { type Answer, toResponse } from './request/respond.ts'
import { createAnswerWhole } from './request/whole-requests.ts'

type Incoming = HttpBindings['incoming']

/** The log shows "?" as the method. */
const UNREADABLE: HeadContext['req'] = { method: '?', header: () => undefined }

/**
 * Returns the HTTP server of the whole service, not yet listening. The router answers all that `whole` does not.
 */
export function createServer(
  services: Services,
  whole: Omit<AnswerWhole, 'onError'> = createAnswerWhole(services),
) {
  const { config, log } = services
  return createHttpServer(createListener(services), {
    answerUnreadable: (unreadable) => answerUnreadable(services, unreadable),
    answerWhole: {
      ...whole,
      onError: (error) => log.error({ err: error }, 'unexpected error'),
    },
    connections: {
      total: config.maxConnections,
      perAddress: Math.ceil(config.maxConnections / 10),
      proxies: config.trustedProxies,
      onRefused: throttle((count) => log.warn({ count }, 'connections refused: too many')),
    },
  })
}

/** Returns a listener that passes the requests of node:http to the router. */
export function createListener(services: Services) {
  const app = createApp(services)
  return getRequestListener(
    (request, env) => {
      // safe: the adaptor passes the bindings of Node
      const { incoming } = env as HttpBindings
      if (!isHttp1(incoming)) return toResponse(refuseHead(services, incoming))
      return app.fetch(request, {
        remoteAddress: incoming.socket.remoteAddress,
        httpVersion: incoming.httpVersion,
        // A body that is too long must not close the connection, which has yet to carry the answer.
        readBody: () => incoming.iterator({ destroyOnReturn: false }),
      })
    },
    {
      errorHandler: (error) =>
        toResponse(
          error instanceof RequestError
            ? closing(answerUnreadable(services, { code: '', remoteAddress: undefined }))
            : answerFailure(services, error),
        ),
    },
  )
}

/**
 * node:http accepts HTTP/2.0, and of several headers Host it keeps the first; the adaptor accepts a whole URL without
 * Host. RFC 9112, section 3.2, has all refused.
 */
function isHttp1({ httpVersionMajor, headers, rawHeaders }: Incoming): boolean {
  if (httpVersionMajor !== 1 || headers.host === undefined) return false
  const isHost = (text: string, at: number) => at % 2 === 0 && /^host$/i.test(text)
  return rawHeaders.filter(isHost).length < 2
}

/** Answers a request that is not `isHttp1`. */
function refuseHead(services: Services, { method = '?', headers, socket }: Incoming): Answer {
  const header = (name: string) => headers[name]?.toString()
  const { remoteAddress } = socket
  const exchange = openExchange(services, { env: { remoteAddress }, req: { method, header } })
  const message = 'The request is not HTTP/1.1, or does not have exactly one header Host'
  return closing(answerError(services, exchange, new ApiError('BAD_REQUEST', message)))
}

/** What follows on the connection may be meant for another host. */
function closing(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, connection: 'close' } }
}

/** Answers a request that could not be read. */
function answerUnreadable(services: Services, { code, remoteAddress }: Unreadable): Answer {
  const exchange = openExchange(services, { env: { remoteAddress }, req: UNREADABLE })
  return answerError(services, exchange, toApiError(code))
}

/** Answers a request that failed outside of its operation, which is a bug. */
function answerFailure(services: Services, error: unknown): Answer {
  return answerError(services, openExchange(services, { env: undefined, req: UNREADABLE }), error)
}

function toApiError(code: string): ApiError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ApiError('REQUEST_TIMEOUT', 'The request came too slowly')
    case 'HPE_HEADER_OVERFLOW':
      return new ApiError('HEADERS_TOO_LARGE', 'Request line and headers are larger than 16 KB')
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new ApiError('PAYLOAD_TOO_LARGE', 'The extensions of a chunk are too large')
    default:
      return new ApiError('BAD_REQUEST', 'The request is not valid HTTP/1.1')
  }
}
