import type { ApiErrorBody } from '../lib/contract/common.ts'
import type { ApiError } from '../lib/errors.ts'

export type Headers = Record<string, string>

/**
 * Makes the answer with all its headers at once: setting one on a finished Response costs more than
 * the whole look-up. `json` null: no body.
 */
export function respond(status: number, json: string | null, headers: Headers): Response {
  return new Response(json, { status, headers })
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
