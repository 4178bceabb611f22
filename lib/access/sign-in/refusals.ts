import type { AuthContext } from 'better-auth'
import { APIError } from 'better-auth/api'
import type { BetterAuthOptions } from 'better-auth/minimal'
import { and, eq, exists, isNotNull, or } from '../../db/drizzle.ts'
import type { Queries } from '../../db/queries.ts'
import { auditLog, users } from '../../db/tables.ts'
import { bearerOf } from '../authenticate.ts'
import type { AuthMailer } from './auth-mail.ts'
import { isEasyToGuess, type PasswordOwner } from './common-passwords.ts'
import { hasRightLength } from './passwords.ts'
import { findToken } from './reset-password.ts'
import { askSecondStep, SECOND_STEP_PATH, type SecondStep } from './second-step.ts'

interface GuardOptions {
  readonly db: Queries
  /** null without a mail server: then users cannot verify an address. */
  readonly mailer: AuthMailer | null
  readonly secondStep: SecondStep
}

/** Refuses sessions that may not begin yet. */
export function guardSessions({ db, mailer, secondStep }: GuardOptions) {
  const before = async (
    { userId }: { readonly userId: string },
    call: { readonly path?: string | undefined } | null,
  ) => {
    await refuseDisabled(db, userId)
    if (mailer !== null) await refuseUnverified(db, userId)
    if (!AFTER_SECOND_STEP.has(call?.path)) await askSecondStep(secondStep, userId)
  }
  return { session: { create: { before } } } satisfies BetterAuthOptions['databaseHooks']
}

/** Endpoints whose callers have already given their second factor, if they have one. */
const AFTER_SECOND_STEP: ReadonlySet<unknown> = new Set([SECOND_STEP_PATH, '/change-password'])

/** Only a caller with the right password learns that the account is disabled. */
async function refuseDisabled(db: Queries, userId: string): Promise<void> {
  if (!(await isDisabled(db, userId))) return
  throw new APIError('FORBIDDEN', { message: DISABLED, code: 'ACCOUNT_DISABLED' })
}

const DISABLED = 'This account is disabled. Ask those who run this service.'

/** Whether an operator has disabled the account. */
async function isDisabled(db: Queries, userId: string): Promise<boolean> {
  const isOff = and(eq(users.id, userId), isNotNull(users.disabledAt))
  return (await db.select({ id: users.id }).from(users).where(isOff).get()) !== undefined
}

/**
 * Until the address of a new account is verified, the right password gets the answer for a wrong
 * one. Otherwise a sign-up and a sign-in would show whether the address already had an account.
 */
async function refuseUnverified(db: Queries, userId: string): Promise<void> {
  if (await mayBeginSession(db, userId)) return
  const message = 'Invalid email or password'
  // Same order of fields as in better-auth, so that the bytes are equal.
  throw new APIError('UNAUTHORIZED', { message, code: 'INVALID_EMAIL_OR_PASSWORD' })
}

/**
 * Whether the user may start a session on a service that sends mail: the address is verified, or
 * the user already signed in before the service sent mail.
 */
async function mayBeginSession(db: Queries, userId: string): Promise<boolean> {
  const isLogin = and(eq(auditLog.actorId, userId), eq(auditLog.action, 'login'))
  const hasSignedIn = exists(db.select().from(auditLog).where(isLogin))
  const isAdmitted = and(eq(users.id, userId), or(eq(users.emailVerified, true), hasSignedIn))
  return (await db.select({ id: users.id }).from(users).where(isAdmitted).get()) !== undefined
}

/** The fields with a new password, by endpoint. */
const NEW_PASSWORDS: Readonly<Record<string, string>> = {
  '/sign-up/email': 'password',
  '/change-password': 'newPassword',
  '/reset-password': 'newPassword',
}

/** Refuses new passwords that are easy to guess. better-auth refuses those that are too short or too long. */
export async function refuseEasyPassword(call: PasswordCall): Promise<void> {
  const { path, body } = call
  const field = NEW_PASSWORDS[path]
  const password = field === undefined ? undefined : body[field]
  if (typeof password !== 'string' || !hasRightLength(password)) return
  if (!(await isEasyToGuess(password, await ownerOf(call)))) return
  const message = 'This password is too easy to guess. Choose another one.'
  throw new APIError('BAD_REQUEST', { code: 'PASSWORD_TOO_COMMON', message })
}

interface PasswordCall {
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  readonly context: AuthContext
  readonly headers: Headers | undefined
}

/** Whose password the request sets. A request that names nobody is refused by its endpoint. */
async function ownerOf({ path, body, context, headers }: PasswordCall): Promise<PasswordOwner> {
  if (path === '/sign-up/email') return body
  if (path === '/reset-password') {
    const { token } = body
    return typeof token === 'string' ? (await findToken(context, token)).user : {}
  }
  const token = bearerOf(headers?.get('authorization') ?? null)
  return token === null ? {} : ((await context.internalAdapter.findSession(token))?.user ?? {})
}
