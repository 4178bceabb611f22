import { setTimeout as sleep } from 'node:timers/promises'
import { drizzleAdapter } from 'better-auth/adapters/drizzle'
import { createAuthMiddleware } from 'better-auth/api'
import { verifyJWT, verifyPassword } from 'better-auth/crypto'
import { type BetterAuthOptions, betterAuth } from 'better-auth/minimal'
import { bearer } from 'better-auth/plugins/bearer'
import * as v from 'valibot'
import { removeSpentLinks } from '../../contact/account-mails.ts'
import type { AuthBody } from '../../contract/account/auth.ts'
import { AUTH_BASE_PATH } from '../../contract/pages.ts'
import { and, eq, ne } from '../../db/drizzle.ts'
import type { Queries } from '../../db/queries.ts'
import { sessions, users, verifications } from '../../db/tables.ts'
import { SECOND_MS } from '../../parts/durations.ts'
import type { Log } from '../../parts/log/log.ts'
import { LOCAL_HOSTS } from '../../parts/net/origin.ts'
import { createSerialQueue } from '../../parts/serial-queue.ts'
import { SESSION_MS } from '../find-session.ts'
import { type NewPlans, planOfNew } from '../new-plans.ts'
import { hashToken } from '../session-token.ts'
import { DASHBOARD_PREFIX } from '../sessions.ts'
import { findPassword } from '../stored-password.ts'
import { type AuthMailer, authMail, type ResetUser } from './auth-mail.ts'
import { authTables } from './auth-tables.ts'
import { hashTokens } from './hashed-tokens.ts'
import { mapErrors } from './map-errors.ts'
import { guardSessions, refuseEasyPassword } from './refusals.ts'
import { type ResetOptions, resetPassword } from './reset-password.ts'
import { SECOND_STEP_PATH, type SecondStep, secondStep } from './second-step.ts'
import { findByAddress, fromStandIn, showAddress, toStandIn } from './stand-in-addresses.ts'

export interface EmbeddedAuthOptions {
  readonly db: Queries
  readonly secret: string
  /** Address of this service, without a slash at the end. */
  readonly baseUrl: string
  readonly newPlans: NewPlans
  readonly allowSignUp: boolean
  /** null without a mail server: then users cannot verify an address or reset a password. */
  readonly mailer: AuthMailer | null
  readonly passwordResets: PasswordResets
  readonly secondStep: SecondStep
  readonly log: Pick<Log, 'warn' | 'error'>
}

export interface PasswordResets extends Pick<ResetOptions, 'reset'> {
  /** Whether keys are revoked unless the user chooses otherwise. */
  readonly hasSuspectKeys: (user: ResetUser) => Promise<boolean>
}

/** A request below /api/auth. */
export interface AuthCall {
  readonly method: string
  /** Includes the query. */
  readonly path: string
  readonly headers: Headers
  /** The bearer token; null if there is none. */
  readonly token: string | null
  readonly body: string | null
  /** Address of the client; null if the runtime does not report it. */
  readonly client: string | null
  /** `dashboard` for our own pages, `api` for any other program. */
  readonly app: 'api' | 'dashboard'
  /** The fields of the body that we read ourselves. */
  readonly given: AuthBody
}

export type HandleAuth = (call: AuthCall) => Promise<Response>

/** Carries the client's address to better-auth, which does not see the connection. */
const CLIENT_HEADER = 'x-meridian-client'

const MAX_AGENT = 300

/**
 * Requests for a reset take at least this long, whether or not the address has an account.
 * (better-auth does the same for requests for a verification mail.)
 */
const RESET_REQUEST_MS = 200

/** Sign-up, sign-in and sessions by better-auth, in our database. */
export function createEmbeddedAuth(options: EmbeddedAuthOptions): HandleAuth {
  const { baseUrl } = options
  const auth = betterAuth(settingsOf(options))
  const ask = (call: AuthCall) => auth.handler(toRequest(call, baseUrl))
  // better-auth checks the old password long before it writes the new one. Without a queue, a thief's
  // change could overwrite the owner's reset.
  const inSeries = createSerialQueue()
  return async (call) => {
    if (isFor(call, '/sign-in/email')) return signIn(options, call, ask)
    if (isFor(call, '/change-password')) return inSeries(() => changePassword(options, call, ask))
    if (isFor(call, '/reset-password')) return inSeries(() => ask(call))
    if (isFor(call, SECOND_STEP_PATH)) return inSeries(() => ask(call))
    if (!isFor(call, '/request-password-reset')) return ask(call)
    const [response] = await Promise.all([ask(call), sleep(RESET_REQUEST_MS)])
    return response
  }
}

function isFor({ path }: AuthCall, endpoint: string): boolean {
  return path.split('?', 1)[0] === `${AUTH_BASE_PATH}${endpoint}`
}

/** Signs in. A link that we mailed, together with the password, verifies the address first. */
async function signIn(
  options: EmbeddedAuthOptions,
  call: AuthCall,
  ask: HandleAuth,
): Promise<Response> {
  const { db } = options
  const { email = '' } = call.given
  const stored = await findPassword(db, email)
  if (stored !== undefined) await verifyAddress(options, call.given, stored)
  const response = await ask(call)
  if (response.status !== 200) return response
  if ((await findPassword(db, email))?.hash === stored?.hash) return response
  // The password has changed meanwhile: end the session or challenge that the old one began.
  const { token } = v.parse(SignedIn, await response.json())
  await (token === undefined
    ? db.delete(verifications).where(eq(verifications.value, stored?.userId ?? ''))
    : db.delete(sessions).where(eq(sessions.tokenHash, hashToken(token)))
  ).run()
  return signIn(options, call, ask)
}

const SignedIn = v.object({ token: v.optional(v.string()) })

/**
 * Also ends all other sessions, whether or not the caller asks for it, and spends the links that were
 * mailed for a reset: somebody else may have them.
 */
async function changePassword(
  { db, mailer }: EmbeddedAuthOptions,
  call: AuthCall,
  ask: HandleAuth,
): Promise<Response> {
  const response = await ask(call)
  if (response.status !== 200) return response
  const { user, token } = v.parse(Changed, await response.clone().json())
  // With revokeOtherSessions, better-auth replaces the caller's session as well.
  const kept = hashToken(token ?? call.token ?? '')
  const isOther = and(eq(sessions.userId, user.id), ne(sessions.tokenHash, kept))
  await db.delete(sessions).where(isOther).run()
  await db.delete(verifications).where(eq(verifications.value, user.id)).run()
  await removeSpentLinks(db, user.id).run()
  await mailer?.postNotice(user.id, 'password_changed')
  return response
}

const Changed = v.object({ token: v.nullable(v.string()), user: v.object({ id: v.string() }) })

/**
 * Verifies the address if the caller has both the token that we mailed to it and the password.
 * Without the password, its owner could verify an account that a stranger made with the address.
 */
async function verifyAddress(
  { db, secret }: EmbeddedAuthOptions,
  { email = '', password = '', verificationToken }: AuthBody,
  { userId, hash }: NonNullable<Awaited<ReturnType<typeof findPassword>>>,
): Promise<void> {
  if (verificationToken === undefined || hash === null) return
  const mailed = await verifyJWT<{ readonly email?: unknown }>(verificationToken, secret)
  if (mailed?.email !== email || !(await verifyPassword({ hash, password }))) return
  await db.update(users).set({ emailVerified: true }).where(eq(users.id, userId)).run()
}

function settingsOf(options: EmbeddedAuthOptions) {
  const { db, secret, baseUrl, newPlans, allowSignUp, log, mailer, passwordResets } = options
  const mail = mailer === null ? null : authMail(mailer, passwordResets.hasSuspectKeys)
  const adapter = drizzleAdapter(db, { provider: 'sqlite', schema: authTables })
  const errors = { log, hidesUsers: mail !== null }
  return {
    appName: 'Meridian',
    baseURL: `${baseUrl}${AUTH_BASE_PATH}`,
    basePath: AUTH_BASE_PATH,
    secret,
    database: (settings: BetterAuthOptions) =>
      hashTokens(findByAddress(mapErrors(adapter(settings), errors))),
    databaseHooks: { ...guardSessions(options), ...completeUsers(options) },
    trustedOrigins: originsOf(baseUrl),
    user: {
      additionalFields: {
        plan: { type: 'string', defaultValue: newPlans.others, input: false, returned: false },
      },
    },
    verification: { storeIdentifier: 'hashed' },
    emailAndPassword: {
      enabled: true,
      disableSignUp: !allowSignUp,
      // A sign-up then answers alike whether or not the address has an account.
      autoSignIn: mail === null,
      customSyntheticUser: showAddress,
      ...mail?.passwordReset,
      ...mail?.signUp,
    },
    ...(mail !== null && { emailVerification: mail.verification }),
    ...FIXED_SETTINGS,
    logger: {
      level: 'warn',
      // Most errors that better-auth logs are rejected requests, which any client can cause.
      log: (_, message) => log.warn({ by: 'auth' }, message),
    },
    hooks: { before: prepare },
    plugins: [
      bearer(),
      resetPassword({ reset: passwordResets.reset, appOf }),
      secondStep(options.secondStep, appOf),
    ],
  } satisfies BetterAuthOptions
}

/** Runs before each endpoint. */
const prepare = createAuthMiddleware(async (call) => {
  await refuseEasyPassword(call)
  const email: unknown = call.body?.email
  return typeof email === 'string' ? { context: { body: { email: toStandIn(email) } } } : undefined
})

/** Users are stored under their own address. The first account of the server gets a plan of its own. */
function completeUsers({ db, newPlans }: EmbeddedAuthOptions) {
  const before = async (user: { readonly email: string }) => {
    const plan = await planOfNew(db, newPlans)
    return { data: { ...user, email: fromStandIn(user.email), plan } }
  }
  return { user: { create: { before } } } satisfies BetterAuthOptions['databaseHooks']
}

/** Set explicitly: the defaults depend on environment variables. */
const FIXED_SETTINGS = {
  // Our own limits answer in the form of the contract: lib/contract/account/auth.ts.
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  // Only our own check makes sessions longer: it knows when they must end.
  session: { expiresIn: SESSION_MS / SECOND_MS, disableSessionRefresh: true },
  advanced: {
    cookiePrefix: 'meridian',
    disableCSRFCheck: false,
    disableOriginCheck: false,
    ipAddress: { ipAddressHeaders: [CLIENT_HEADER], ipv6Subnet: 64 },
    database: { generateId: () => crypto.randomUUID() },
  },
  // better-auth throws errors that it has no answer for, so that we log and answer them as bugs.
  onAPIError: { throw: true },
} satisfies BetterAuthOptions

function toRequest(call: AuthCall, baseUrl: string) {
  const { method, path, body, client, app, headers, token } = call
  const sent = new Headers(headers)
  // better-auth stores it with each session.
  const agent = (headers.get('user-agent') ?? '').slice(0, MAX_AGENT)
  sent.set(CLIENT_HEADER, client ?? '0.0.0.0')
  sent.set(
    'user-agent',
    app === 'dashboard'
      ? `${DASHBOARD_PREFIX}${agent || 'unknown'}`
      : agent.replace(/^(\s*dashboard: )+/i, ''),
  )
  // better-auth must find the session by this token alone: its user is charged for password changes. For a mail
  // to verify an address it needs none, and would compare the address of the session with a stand-in.
  if (token === null || isFor(call, '/send-verification-email')) sent.delete('authorization')
  else sent.set('authorization', `Bearer ${token}`)
  sent.delete('cookie')
  if (!sent.has('origin')) dropFetchMetadata(sent)
  return new Request(`${baseUrl}${path}`, { method, headers: sent, body })
}

/** Reads what `toRequest` wrote. */
function appOf(headers: Headers | undefined): AuthCall['app'] {
  const agent = headers?.get('user-agent') ?? ''
  return agent.startsWith(DASHBOARD_PREFIX) ? 'dashboard' : 'api'
}

/**
 * The fetch of Node.js sends `Sec-Fetch-Mode`, so better-auth mistakes a script for a page that
 * hides its origin. Dropping the headers is safe: a page cannot omit `Origin` when it posts to
 * another site.
 */
function dropFetchMetadata(headers: Headers): void {
  for (const name of ['sec-fetch-site', 'sec-fetch-mode', 'sec-fetch-dest']) headers.delete(name)
}

/** The origins of our pages: a server on loopback can be opened under each loopback name. */
function originsOf(baseUrl: string): string[] {
  const { protocol, hostname, port, origin } = new URL(baseUrl)
  if (!LOCAL_HOSTS.has(hostname)) return [origin]
  return [...LOCAL_HOSTS].map((host) => new URL(`${protocol}//${host}:${port}`).origin)
}
