import type { ApiErrorBody } from '../lib/contract/common.ts'
import type { ApiError } from '../lib/errors.ts'

export type Headers = Record<string, string>

/** All of an answer. `json` null: no body. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Headers>
  readonly json: string | null
}

export function toResponse(answer: Answer | Promise<Answer>): Response | Promise<Response> {
  if (answer instanceof Promise) return answer.then(toResponse)
  return new Response(answer.json, answer)
}

/** The headers that every answer of the API carries. */
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
