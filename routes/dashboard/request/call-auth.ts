import * as v from 'valibot'
import { TOKEN } from '../../../lib/access/session-token.ts'
import type {
  AskRemoteAuth,
  RemoteAnswer,
  RemoteCall,
} from '../../../lib/access/sign-in/remote-sign-in.ts'
import { AUTH_REQUESTS } from '../../../lib/contract/account/auth.ts'
import { AUTH_BASE_PATH } from '../../../lib/contract/pages.ts'
import { normaliseEmail } from '../../../lib/parts/email-address.ts'
import { ApiError } from '../../../lib/parts/errors.ts'
import { performAuth } from '../../api/auth.ts'
import { toPublicError } from '../../request/exchange.ts'
import { charge } from '../../request/limit.ts'
import type { Headers } from '../../request/respond.ts'
import { readDevices } from './cookies.ts'
import type { Visit } from './visit.ts'

export interface AuthAnswer {
  readonly status: number
  /** The error's code and message from better-auth; empty if there is none. */
  readonly code: string
  readonly message: string
  /** The token of the session that this answer starts. */
  readonly token: string | null
  /** The address of the account that this answer signs in, or whose password it reset. */
  readonly email: string | null
  /** Must be sent with the code in the second step of a sign-in. */
  readonly challenge: string | null
}

const AuthBody = v.object({
  code: v.nullish(v.string(), ''),
  message: v.nullish(v.string(), ''),
  /** In errors of this service, not of better-auth. */
  error: v.optional(v.object({ message: v.string() })),
  token: v.nullish(v.pipe(v.string(), v.regex(TOKEN)), null),
  email: v.nullish(v.string(), null),
  user: v.nullish(v.object({ email: v.nullish(v.string(), null) }), null),
  challenge: v.nullish(v.string(), null),
})

/**
 * Calls better-auth: our own below /api/auth, or the remote auth service if one is configured. Returns
 * its errors; throws AUTH_UNAVAILABLE if the service cannot answer.
 */
export async function callAuth(
  visit: Visit,
  path: string,
  body: Readonly<Record<string, unknown>>,
): Promise<AuthAnswer> {
  const { token, services } = visit
  const headers: Headers = token === null ? {} : { authorization: `Bearer ${token}` }
  // The remote service may have another rule for addresses, but takes the form that browsers send.
  const sent =
    typeof body['email'] === 'string' ? { ...body, email: normaliseEmail(body['email']) } : body
  const call = { path: `${AUTH_BASE_PATH}${path}`, headers, body: sent }
  const { status, body: answer } =
    services.askRemoteAuth === null
      ? await callOwnAuth(visit, path, call)
      : await callRemoteAuth(visit, services.askRemoteAuth, call)
  if (status >= 500) throw unavailable()
  const none = { status, code: '', token: null, email: null, challenge: null }
  if (status === 429) return { ...none, message: TOO_OFTEN }
  const read = v.safeParse(AuthBody, answer)
  if (!read.success) return { ...none, message: '' }
  const { error, user, ...given } = read.output
  const email = given.email ?? user?.email ?? null
  return { status, ...given, email, message: error?.message ?? given.message }
}

async function callOwnAuth(
  { services, exchange, c }: Visit,
  path: string,
  { headers, body }: Pick<RemoteCall, 'headers' | 'body'>,
): Promise<RemoteAnswer> {
  const row = AUTH_REQUESTS.find((one) => one.method === 'POST' && one.path === path)
  const { handleAuth: handle } = services
  if (row === undefined || handle === null) throw new Error(`No endpoint ${path}`)
  const agent = c.req.header('user-agent')
  const sent = { 'content-type': 'application/json', ...headers }
  const input = {
    headers: new Headers(agent === undefined ? sent : { ...sent, 'user-agent': agent }),
    search: '',
    readBody: async () => JSON.stringify(body),
    signal: c.req.raw.signal,
    app: 'dashboard',
    devices: readDevices({ services, c }),
  } as const
  try {
    const response = await performAuth({ services, handle }, row, { ...exchange }, input)
    return { status: response.status, body: await response.json() }
  } catch (error) {
    const { status, message } = toPublicError(services, exchange, error)
    return { status, body: { error: { message } } }
  }
}

/** Rate-limits the visitor here, because the remote service may see only our own address. */
async function callRemoteAuth(
  { services, exchange }: Visit,
  askRemoteAuth: AskRemoteAuth,
  call: RemoteCall,
): Promise<RemoteAnswer> {
  charge(services, exchange)
  const client = exchange.client?.address.text
  const headers = { ...call.headers, ...(client !== undefined && { 'x-forwarded-for': client }) }
  try {
    return await askRemoteAuth({ ...call, headers })
  } catch (error) {
    services.log.error({ err: error, requestId: exchange.requestId }, 'cannot ask the auth service')
    throw unavailable()
  }
}

function unavailable(): ApiError {
  return new ApiError('AUTH_UNAVAILABLE', 'The sign-in service is unavailable now; try again later')
}

const TOO_OFTEN = 'Too many attempts. Try again later.'
