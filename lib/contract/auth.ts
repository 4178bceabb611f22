import * as v from 'valibot'
import { textUpTo } from './common.ts'

/** One of the requests by which people sign up and in, below /api/auth. */
export interface AuthRequest {
  readonly method: 'GET' | 'POST'
  /** As the router knows it: `:token` stands for any text. */
  readonly path: `/${string}`
  /** Checked here, where better-auth does not check. */
  readonly body?: v.GenericSchema
}

export const AUTH_BASE_PATH = '/api/auth'

const UpdateUserBody = v.strictObject({
  name: v.optional(textUpTo(100)),
  image: v.optional(v.nullable(textUpTo(1_000))),
})

/**
 * What of better-auth is served, with its own bodies and errors. Anything else that it can do stays
 * closed: what lists or ends single sessions needs their tokens, which are stored as hashes.
 */
export const AUTH_REQUESTS: readonly AuthRequest[] = [
  { method: 'POST', path: '/sign-up/email' },
  { method: 'POST', path: '/sign-in/email' },
  { method: 'POST', path: '/sign-out' },
  { method: 'GET', path: '/get-session' },
  { method: 'POST', path: '/request-password-reset' },
  { method: 'GET', path: '/reset-password/:token' },
  { method: 'POST', path: '/reset-password' },
  { method: 'POST', path: '/send-verification-email' },
  { method: 'GET', path: '/verify-email' },
  { method: 'POST', path: '/change-password' },
  { method: 'POST', path: '/update-user', body: UpdateUserBody },
  { method: 'POST', path: '/revoke-sessions' },
]
