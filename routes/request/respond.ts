import type { ApiErrorBody } from '../../lib/contract/common.ts'
import type { ApiError } from '../../lib/errors.ts'
import type { WholeAnswer } from '../../lib/http/write-answer.ts'

export type Headers = Record<string, string>

export type Answer = WholeAnswer

export function toResponse(answer: Answer): Response {
  return new Response(answer.json, answer)
}

/** The headers of every answer of the API. */
export function baseHeaders(requestId: string): Headers {
  return {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': requestId,
  }
}

export function errorJson(error: ApiError, requestId: string): string {
  const body: ApiErrorBody = {
    error: { code: error.code, message: error.message },
    meta: { requestId },
    ...(error.query !== undefined && { query: error.query }),
  }
  return JSON.stringify(body)
}
