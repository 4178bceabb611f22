import type { AuthContext } from 'better-auth'
import { APIError, createAuthEndpoint } from 'better-auth/api'
import * as v from 'valibot'
import type { ResetUser } from './auth-mail.ts'

/** One reset of a user's password. */
export interface Reset {
  /** Row id of the mailed token. */
  readonly tokenId: string
  /** The hash of the new password. */
  readonly password: string
  readonly app: 'api' | 'dashboard'
  /** undefined: only keys that a stranger may have made. */
  readonly revokeKeys: boolean | undefined
}

export interface ResetOptions {
  /** Does the whole reset, or nothing if it throws. Returns false if the token is already spent. */
  readonly reset: (user: ResetUser, reset: Reset) => Promise<boolean>
  readonly appOf: (headers: Headers | undefined) => Reset['app']
}

const Body = v.object({
  token: v.string(),
  newPassword: v.string(),
  revokeKeys: v.optional(v.boolean()),
})

/**
 * Replaces the endpoint of better-auth, which spends the token before it changes the password: if
 * the change failed, the mailed link would no longer work. Also answers with the e-mail address,
 * which the link does not contain.
 */
export function resetPassword({ reset, appOf }: ResetOptions) {
  const endpoint = createAuthEndpoint(
    '/reset-password',
    { method: 'POST', body: Body },
    async ({ body, context, headers }) => {
      const { newPassword, revokeKeys } = body
      const { config, hash } = context.password
      if (newPassword.length < config.minPasswordLength) throw refusal(TOO_SHORT)
      if (newPassword.length > config.maxPasswordLength) throw refusal(TOO_LONG)
      const { tokenId, user } = await findToken(context, body.token)
      const password = await hash(newPassword)
      const isReset = await reset(user, { tokenId, password, app: appOf(headers), revokeKeys })
      if (!isReset) throw refusal(INVALID_TOKEN)
      return { status: true, email: user.email }
    },
  )
  return { id: 'reset-password', endpoints: { resetPassword: endpoint } }
}

/** Finds the row of the mailed token, and its user. Throws if the token is not valid, or no longer. */
export async function findToken({ internalAdapter }: AuthContext, text: string) {
  const token = await internalAdapter.findVerificationValue(`reset-password:${text}`)
  if (token === null || token.expiresAt < new Date()) throw refusal(INVALID_TOKEN)
  const user = await internalAdapter.findUserById(token.value)
  if (user === null) throw refusal(INVALID_TOKEN)
  return { tokenId: token.id, user }
}

/** As better-auth words them. */
const INVALID_TOKEN = { message: 'Invalid token', code: 'INVALID_TOKEN' }
const TOO_SHORT = { message: 'Password too short', code: 'PASSWORD_TOO_SHORT' }
const TOO_LONG = { message: 'Password too long', code: 'PASSWORD_TOO_LONG' }

function refusal(error: typeof INVALID_TOKEN): APIError {
  return new APIError('BAD_REQUEST', error)
}
