import * as v from 'valibot'
import type { AskRemoteAuth, RemoteAnswer, RemoteCall } from '../../lib/access/remote-sign-in.ts'
import { TOKEN } from '../../lib/access/session.ts'
import { AUTH_BASE_PATH } from '../../lib/contract/auth.ts'
import { ApiError } from '../../lib/errors.ts'
import { charge } from '../limit.ts'
import type { Headers } from '../respond.ts'
import type { GuestVisit } from './visit.ts'

export interface AuthAnswer {
  readonly status: number
  /** In the words of better-auth; empty where it has none. */
  readonly message: string
  /** Of the session that begins with it. */
  readonly token: string | null
}

const Told = v.object({
  message: v.nullish(v.string(), ''),
  token: v.nullish(v.pipe(v.string(), v.regex(TOKEN)), null),
})

/**
 * Asks the sign-in of this service, below /api/auth, or of the one that does it instead. Refusals are
 * answers; what cannot be asked now is AUTH_UNAVAILABLE.
 */
export async function askAuth(
  visit: GuestVisit,
  path: string,
  body: Readonly<Record<string, unknown>>,
): Promise<AuthAnswer> {
  const { token, services } = visit
  const headers: Headers = token === null ? {} : { authorization: `Bearer ${token}` }
  const call = { path: `${AUTH_BASE_PATH}${path}`, headers, body }
  const { status, body: told } =
    services.askRemoteAuth === null
      ? await askOwn(visit, call)
      : await askRemote(visit, services.askRemoteAuth, call)
  if (status >= 500) throw unavailable()
  if (status === 429) return { status, message: TOO_OFTEN, token: null }
  const read = v.safeParse(Told, told)
  return { status, ...(read.success ? read.output : { message: '', token: null }) }
}

async function askOwn(
  { sendApi }: GuestVisit,
  { path, ...sent }: RemoteCall,
): Promise<RemoteAnswer> {
  const response = await sendApi('POST', path, sent)
  return { status: response.status, body: await response.json() }
}

/** The service may see all visitors at our address: so they are limited here. */
async function askRemote(
  { services, visit }: GuestVisit,
  ask: AskRemoteAuth,
  call: RemoteCall,
): Promise<RemoteAnswer> {
  charge(services, visit)
  const client = visit.client?.address.text
  const headers = { ...call.headers, ...(client !== undefined && { 'x-forwarded-for': client }) }
  try {
    return await ask({ ...call, headers })
  } catch (error) {
    services.log.error({ err: error, requestId: visit.requestId }, 'cannot ask the auth service')
    throw unavailable()
  }
}

function unavailable(): ApiError {
  return new ApiError('AUTH_UNAVAILABLE', 'Nobody can sign in or out now; try again later')
}

const TOO_OFTEN = 'Too many attempts. Wait a minute, then try again.'
