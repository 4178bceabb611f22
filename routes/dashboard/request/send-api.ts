import type { Context } from 'hono'
import type { Services } from '../../lib/services/services.ts'
import type { Env } from '../context.ts'
import type { Visit } from '../visit.ts'

/** The whole service, which the dashboard asks as everybody does. */
export type Fetch = (request: Request, env: Env['Bindings']) => Response | Promise<Response>

export interface Sent {
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON; undefined: no body. */
  readonly body?: unknown
  /** The session in it was found good for this visit. */
  readonly isSignedIn?: boolean
}

/** Sends a request to the API of this service without leaving the process. */
export type SendApi = (method: string, path: string, sent?: Sent) => Promise<Response>

/** Whose request a page answers: the API knows them by the same address and request id. */
const PASSED_ON = ['x-forwarded-for', 'user-agent', 'traceparent']

export function createSendApi(
  fetch: Fetch,
  { baseUrl }: Services,
  c: Context<Env>,
  { requestId }: Visit,
): SendApi {
  const passedOn = PASSED_ON.flatMap((name): [string, string][] => {
    const value = c.req.header(name)
    return value === undefined ? [] : [[name, value]]
  })
  return async (method, path, { headers, body, isSignedIn = false } = {}) => {
    const request = new Request(new URL(path, baseUrl()), {
      method,
      headers: {
        ...Object.fromEntries(passedOn),
        'x-request-id': requestId,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return fetch(request, { remoteAddress: c.env?.remoteAddress, app: 'dashboard', isSignedIn })
  }
}
