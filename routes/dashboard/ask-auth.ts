import * as v from 'valibot'
import type { AskRemoteAuth } from '../../lib/access/remote-sign-in.ts'
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
  token: v.nullish(v.string(), null),
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
  const { token, services, sendApi } = visit
  const headers: Headers = token === null ? {} : { authorization: `Bearer ${token}` }
  const response =
    services.askRemoteAuth === null
      ? await sendApi('POST', `${AUTH_BASE_PATH}${path}`, { headers, body })
      : await askRemote(visit, services.askRemoteAuth, { path, headers, body })
  const { status } = response
  if (status >= 500) throw unavailable()
  if (status === 429) return { status, message: TOO_OFTEN, token: null }
  const told = v.safeParse(Told, await response.json())
  return { status, ...(told.success ? told.output : { message: '', token: null }) }
}

interface Call {
  readonly path: string
  readonly headers: Readonly<Headers>
  readonly body: unknown
}

/** The service sees all visitors at our address: so they are limited here. */
async function askRemote(
  { services, visit }: GuestVisit,
  ask: AskRemoteAuth,
  { path, headers, body }: Call,
): Promise<Response> {
  charge(services, visit)
  try {
    return await ask(`${AUTH_BASE_PATH}${path}`, headers, body)
  } catch (error) {
    services.log.error({ err: error, requestId: visit.requestId }, 'cannot ask the auth service')
    throw unavailable()
  }
}

function unavailable(): ApiError {
  return new ApiError('AUTH_UNAVAILABLE', 'Nobody can sign in or out now; try again later')
}

const TOO_OFTEN = 'Too many attempts. Wait a minute, then try again.'
