import type { Unreadable } from '../../lib/http/client-error.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import type { Services } from '../../lib/services/services.ts'
import type { HeadContext } from '../context.ts'
import { answerError, openExchange } from './exchange.ts'
import type { Answer } from './respond.ts'

/** The log shows "?" as the method. */
const UNREADABLE: HeadContext['req'] = { method: '?', header: () => undefined }

/** Answers a request that could not be read. */
export function answerUnreadable(services: Services, { code, remoteAddress }: Unreadable): Answer {
  const exchange = openExchange(services, { env: { remoteAddress }, req: UNREADABLE })
  return answerError(services, exchange, toApiError(code))
}

/** Answers a request that failed outside of its operation, which is a bug. */
export function answerFailure(services: Services, error: unknown): Answer {
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
