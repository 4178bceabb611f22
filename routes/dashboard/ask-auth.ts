import * as v from 'valibot'
import { ApiError } from '../../lib/errors.ts'
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
 * Asks the sign-in of this service, below /api/auth. Refusals are answers; what cannot be asked now
 * is AUTH_UNAVAILABLE.
 */
export async function askAuth(
  { sendApi, token }: Pick<GuestVisit, 'sendApi' | 'token'>,
  path: string,
  body: Readonly<Record<string, unknown>>,
): Promise<AuthAnswer> {
  const headers = token === null ? {} : { authorization: `Bearer ${token}` }
  const response = await sendApi('POST', `/api/auth${path}`, { headers, body })
  const { status } = response
  if (status >= 500) throw new ApiError('AUTH_UNAVAILABLE', 'Nobody can sign in now')
  if (status === 429) return { status, message: TOO_OFTEN, token: null }
  const told = v.safeParse(Told, await response.json())
  return { status, ...(told.success ? told.output : { message: '', token: null }) }
}

const TOO_OFTEN = 'Too many attempts. Wait a minute, then try again.'
