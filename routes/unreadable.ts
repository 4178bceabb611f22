import { ApiError } from '../lib/errors.ts'
import type { Services } from '../lib/services/services.ts'
import type { AskedRequest } from './context.ts'
import type { Answer } from './respond.ts'
import { answerError, openVisit } from './visit.ts'

/** What stands in the log for the method of a request that cannot be read. */
const UNKNOWN_METHOD = '?'

const NOTHING: AskedRequest = {
  method: UNKNOWN_METHOD,
  raw: undefined,
  header: () => undefined,
  param: () => ({}),
  query: () => ({}),
}

/** Answers a request that could not be read; `code` is that of node:http, where it says why. */
export function answerUnreadable(
  services: Services,
  { code, remoteAddress }: { code: string; remoteAddress: string | undefined },
): Answer {
  const visit = openVisit(services, { env: { remoteAddress }, req: NOTHING })
  return answerError(services, visit, toApiError(code))
}

/** Answers a request at which something failed that is not of its operation: a bug. */
export function answerFailure(services: Services, error: unknown): Answer {
  return answerError(services, openVisit(services, { env: undefined, req: NOTHING }), error)
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
      return new ApiError('BAD_REQUEST', 'The request is no HTTP/1.1')
  }
}
