import type { Context } from 'hono'
import type { Services } from '../../../lib/services/services.ts'
import type { Env } from '../../context.ts'
import type { Exchange } from '../../request/exchange.ts'
import { readDevices } from './cookies.ts'

/** The fetch function of the whole service. The dashboard calls it as any client would. */
export type Fetch = (request: Request, env: Env['Bindings']) => Response | Promise<Response>

export interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON; no body if undefined. */
  readonly body?: unknown
  /** Whether this visit has already verified the session. */
  readonly isSignedIn?: boolean
}

/** Sends a request to the API of this service, within the process. */
export type SendApi = (method: string, path: string, options?: SendOptions) => Promise<Response>

/** Headers of the visitor that the API also sees, besides the one that names the client. */
const FORWARDED_HEADERS = ['user-agent', 'traceparent']

export function createSendApi(
  fetch: Fetch,
  { baseUrl, config }: Services,
  c: Context<Env>,
  { requestId }: Exchange,
): SendApi {
  const names = [config.clientHeader, ...FORWARDED_HEADERS]
  const forwarded = names.flatMap((name): [string, string][] => {
    const value = c.req.header(name)
    return value === undefined ? [] : [[name, value]]
  })
  return async (method, path, { headers, body, isSignedIn = false } = {}) => {
    const request = new Request(new URL(path, baseUrl()), {
      method,
      headers: {
        ...Object.fromEntries(forwarded),
        'x-request-id': requestId,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: c.req.raw.signal,
    })
    const { remoteAddress } = c.env ?? {}
    return fetch(request, { remoteAddress, app: 'dashboard', isSignedIn, devices: readDevices(c) })
  }
}
