import type { AskApi } from '../../lib/mcp/api-request.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import { fetchReasonOf } from '../../lib/parts/reason.ts'
import type { Server } from '../parts/server-options.ts'

const TIMEOUT_MS = 30_000

/** Sends requests to the API of a server, with the key. */
export function askServer({ url, key }: Server): AskApi {
  return async ({ row, path, body }, signal) => {
    const sent = {
      method: row.method.toUpperCase(),
      headers: {
        'x-api-key': key,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      // A redirect could take the key elsewhere.
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    } as const
    const response = await fetch(`${url}${path}`, sent).catch((error) => {
      throw new ApiError('SERVICE_UNAVAILABLE', `Cannot reach ${url}: ${fetchReasonOf(error)}`)
    })
    return { status: response.status, text: await response.text() }
  }
}
