import type { Context } from 'hono'
import type { ApiRequest } from '../../lib/mcp/api-request.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Env } from '../context.ts'
import type { Fetch } from '../dashboard/request/send-api.ts'
import type { Exchange } from '../request/exchange.ts'

/** The client's headers that the API also reads, besides the one that names the client's address. */
const FORWARDED = [
  'x-api-key',
  'authorization',
  'origin',
  'sec-fetch-site',
  'user-agent',
  'traceparent',
]

/**
 * Sends requests to the API of this service, within the process, as the client itself would: with its
 * credentials and its address.
 */
export function createSendToApi(
  fetch: Fetch,
  { baseUrl, config }: Services,
  { req, env }: Context<Env>,
  { requestId }: Exchange,
) {
  const forwarded = [config.clientHeader, ...FORWARDED].flatMap((name): [string, string][] => {
    const value = req.header(name)
    return value === undefined ? [] : [[name, value]]
  })
  return async ({ row, path, body }: ApiRequest): Promise<Response> => {
    const request = new Request(new URL(path, baseUrl()), {
      method: row.method.toUpperCase(),
      headers: {
        ...Object.fromEntries(forwarded),
        'x-request-id': requestId,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: req.raw.signal,
    })
    return fetch(request, { remoteAddress: env?.remoteAddress })
  }
}
