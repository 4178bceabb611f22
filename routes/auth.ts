import type { Context, Hono } from 'hono'
import { AUTH_BASE_PATH, AUTH_REQUESTS, type AuthRequest } from '../lib/contract/auth.ts'
import { ApiError } from '../lib/errors.ts'
import { parse, parseJson, readText } from '../lib/parse.ts'
import type { Services } from '../lib/services/services.ts'
import { MAX_BODY_BYTES } from './admit.ts'
import type { Env } from './context.ts'
import { charge } from './limit.ts'
import { setLimitHeaders } from './limit-headers.ts'
import { baseHeaders, toResponse } from './respond.ts'
import { answerError, logVisit, openVisit, type Visit } from './visit.ts'

type HandleAuth = NonNullable<Services['handleAuth']>

/** Mounts sign-up and sign-in, which answer in the words of better-auth. */
export function mountAuth(app: Hono<Env>, services: Services, handle: HandleAuth): void {
  for (const row of AUTH_REQUESTS) {
    const route = `${AUTH_BASE_PATH}${row.path}`
    app.on(row.method, route, async (c) => {
      const visit = openVisit(services, c, { route })
      try {
        charge(services, visit)
        const response = await handle(await readCall(row, c, visit))
        if (response.status === 503) throw unavailable()
        if (response.status >= 500) throw new Error(`better-auth answered ${response.status}`)
        logVisit(services, visit, response.status)
        return await finished(response, visit)
      } catch (error) {
        return toResponse(answerError(services, visit, error))
      }
    })
  }
}

function unavailable(): ApiError {
  return new ApiError('SERVICE_UNAVAILABLE', 'Sign-in cannot be used now; try again later')
}

/** The path is made of the row: one that the client wrote could lead on to what is not served. */
async function readCall(row: AuthRequest, { req, env }: Context<Env>, { client }: Visit) {
  const token = req.param('token') ?? ''
  if (!/^[\w-]*$/.test(token)) throw new ApiError('NOT_FOUND', 'There is no such token')
  const body = req.raw.body === null ? null : await readText(req.raw, MAX_BODY_BYTES)
  if (row.body !== undefined) parse(row.body, parseJson(body ?? ''))
  return {
    // HEAD is answered with the headers of GET.
    method: row.method,
    path: `${AUTH_BASE_PATH}${row.path.replace(':token', token)}${new URL(req.url).search}`,
    headers: req.raw.headers,
    body,
    client: client === null ? null : client.address.text,
    app: env?.app ?? 'api',
  } as const
}

async function finished(response: Response, { requestId, charge: charged }: Visit) {
  const headers = new Headers(response.headers)
  const ours = baseHeaders(requestId)
  if (charged !== null) setLimitHeaders(ours, charged)
  for (const [name, value] of Object.entries(ours)) headers.set(name, value)
  const wait = headers.get('x-retry-after')
  if (wait !== null) headers.set('retry-after', wait)
  const text = await response.text()
  return new Response(text === '' ? null : text, { status: response.status, headers })
}
