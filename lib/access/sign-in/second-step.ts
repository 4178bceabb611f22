import { APIError, createAuthEndpoint } from 'better-auth/api'
import { setSessionCookie } from 'better-auth/cookies'
import { parseUserOutput } from 'better-auth/db'
import * as v from 'valibot'
import type { ResetOptions } from './reset-password.ts'

/**
 * The second step of a sign-in, for users with a second factor. We do not use the twoFactor plugin of
 * better-auth: it begins a session, and so writes the login into the audit log, before it asks for a
 * code, and it accepts the same code twice.
 */
export interface SecondStep {
  /** Makes the text that the user must send back with a code. null: the password is enough. */
  readonly challenge: (userId: string) => Promise<string | null>
  /** Uses up the challenge and the code. Returns the user's id; null if either is wrong or used. */
  readonly pass: (answer: Answer) => Promise<string | null>
}

interface Answer extends v.InferOutput<typeof Body> {
  readonly app: 'api' | 'dashboard'
}

const Body = v.object({ challenge: v.string(), code: v.string() })

/** If the user has a second factor, answers the sign-in with a challenge instead of a session. */
export async function askSecondStep({ challenge }: SecondStep, userId: string): Promise<void> {
  const asked = await challenge(userId)
  if (asked !== null) throw new APIError('OK', { twoFactorRedirect: true, challenge: asked })
}

export const SECOND_STEP_PATH = '/two-factor/verify'

/** The endpoint that begins the session. Its answer is that of a sign-in without a second factor. */
export function secondStep({ pass }: SecondStep, appOf: ResetOptions['appOf']) {
  const endpoint = createAuthEndpoint(
    SECOND_STEP_PATH,
    { method: 'POST', body: Body },
    async (ctx) => {
      const { internalAdapter, options } = ctx.context
      const userId = await pass({ ...ctx.body, app: appOf(ctx.headers) })
      const user = userId === null ? null : await internalAdapter.findUserById(userId)
      if (user === null) throw new APIError('UNAUTHORIZED', WRONG)
      const session = await internalAdapter.createSession(user.id)
      await setSessionCookie(ctx, { session, user })
      return { redirect: false, token: session.token, user: parseUserOutput(options, user) }
    },
  )
  return { id: 'second-step', endpoints: { secondStep: endpoint } }
}

const WRONG = {
  message: 'Wrong or used code, or too late after the password',
  code: 'INVALID_CODE',
}
