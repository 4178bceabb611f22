import type { DBAdapter } from 'better-auth'
import { drizzleAdapter } from 'better-auth/adapters/drizzle'
import { APIError } from 'better-auth/api'
import { type BetterAuthOptions, betterAuth } from 'better-auth/minimal'
import { bearer } from 'better-auth/plugins'
import { AUTH_BASE_PATH } from '../contract/auth.ts'
import { isFault } from '../db/fault.ts'
import type { Db } from '../db/open.ts'
import type { Log } from '../log.ts'
import type { SendMail } from '../mail.ts'
import { authTables } from './auth-tables.ts'
import { hashTokens } from './hashed-tokens.ts'

export interface EmbeddedAuthOptions {
  readonly db: Db
  readonly secret: string
  /** Of the service, without a slash at the end. */
  readonly baseUrl: string
  /** Id of the plan that new users get. */
  readonly plan: string
  readonly allowSignUp: boolean
  /** null: no mail server is configured, so that nothing is verified or reset by mail. */
  readonly sendMail: SendMail | null
  readonly log: Log
}

/** A request below /api/auth, read as far as it is ours to read. */
export interface AuthCall {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly headers: Headers
  /** null: none. */
  readonly body: string | null
  /** Address of the client; null where the runtime does not tell. */
  readonly client: string | null
  /** From where it is asked: by any program, or by the dashboard. */
  readonly app: 'api' | 'dashboard'
}

export type HandleAuth = (call: AuthCall) => Promise<Response>

/** Carries the address of the client, which better-auth cannot find out. */
const CLIENT_HEADER = 'x-meridian-client'

/** Stands before the browser of sessions that the dashboard begins: the audit log knows them by it. */
const DASHBOARD = 'dashboard: '

/** Sign-up, sign-in and sessions by better-auth, in our database. */
export function createEmbeddedAuth(options: EmbeddedAuthOptions): HandleAuth {
  const { db, secret, baseUrl, plan, allowSignUp, log } = options
  const mails = options.sendMail === null ? null : authMails(options.sendMail, log)
  const adapter = drizzleAdapter(db, { provider: 'sqlite', schema: authTables })
  const auth = betterAuth({
    appName: 'Meridian',
    baseURL: `${baseUrl}${AUTH_BASE_PATH}`,
    basePath: AUTH_BASE_PATH,
    secret,
    database: (settings: BetterAuthOptions) => hashTokens(passFaultsOn(adapter(settings), log)),
    trustedOrigins: [new URL(baseUrl).origin, ...loopbackNames(baseUrl)],
    user: {
      additionalFields: {
        plan: { type: 'string', defaultValue: plan, input: false, returned: false },
      },
    },
    verification: { storeIdentifier: 'hashed' },
    emailAndPassword: {
      enabled: true,
      disableSignUp: !allowSignUp,
      revokeSessionsOnPasswordReset: true,
      ...(mails !== null && { sendResetPassword: mails.sendReset }),
    },
    ...(mails !== null && {
      emailVerification: { sendOnSignUp: true, sendVerificationEmail: mails.sendVerification },
    }),
    // Each told, since their defaults depend on variables of the environment.
    rateLimit: { enabled: true },
    telemetry: { enabled: false },
    advanced: {
      cookiePrefix: 'meridian',
      disableCSRFCheck: false,
      disableOriginCheck: false,
      ipAddress: { ipAddressHeaders: [CLIENT_HEADER], ipv6Subnet: 64 },
      database: { generateId: () => crypto.randomUUID() },
    },
    logger: {
      level: 'warn',
      // What it calls errors are mostly refusals, which anybody can cause.
      log: (_, message) => log.warn({ by: 'auth' }, message),
    },
    // What is no refusal is thrown, to be logged and answered as every bug is.
    onAPIError: { throw: true },
    plugins: [bearer()],
  })
  return (call) => auth.handler(toRequest(call, baseUrl))
}

/** Sign-up takes all that adding a user may fail with for a refusal, but for errors of this kind. */
function passFaultsOn(adapter: DBAdapter, log: Log): DBAdapter {
  const create: DBAdapter['create'] = async (args) => {
    try {
      return await adapter.create(args)
    } catch (error) {
      if (!isFault(error)) throw error
      log.error({ err: error }, 'cannot use the database')
      throw new APIError('SERVICE_UNAVAILABLE')
    }
  }
  return { ...adapter, create }
}

function toRequest({ method, path, body, client, ...call }: AuthCall, baseUrl: string) {
  const headers = new Headers(call.headers)
  headers.set(CLIENT_HEADER, client ?? '0.0.0.0')
  headers.set('user-agent', agentOf(call))
  if (!headers.has('origin') && !headers.has('cookie')) dropFetchMetadata(headers)
  return new Request(`${baseUrl}${path}`, { method, headers, body })
}

function agentOf({ app, headers }: Pick<AuthCall, 'app' | 'headers'>): string {
  const given = headers.get('user-agent') ?? ''
  if (app === 'dashboard') return `${DASHBOARD}${given}`
  return given.replace(/^(dashboard: )+/i, '')
}

/**
 * The fetch of Node.js sends `Sec-Fetch-Mode`, by which better-auth takes a script for a page that
 * hides its origin. A page cannot leave out `Origin` when it posts to another site.
 */
function dropFetchMetadata(headers: Headers): void {
  for (const name of ['sec-fetch-site', 'sec-fetch-mode', 'sec-fetch-dest']) headers.delete(name)
}

/** A server on 127.0.0.1 is opened as localhost as well. */
function loopbackNames(baseUrl: string): string[] {
  const url = new URL(baseUrl)
  if (!['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname)) return []
  const port = url.port === '' ? '' : `:${url.port}`
  return ['127.0.0.1', 'localhost', '[::1]'].map((host) => `${url.protocol}//${host}${port}`)
}

interface Mail {
  readonly user: { readonly email: string }
  readonly url: string
  readonly token: string
}

/** Nothing waits for the mail server: how long an answer takes would tell whether a user exists. */
function authMails(sendMail: SendMail, log: Log) {
  const send = async (to: string, subject: string, text: string) => {
    sendMail({ to, subject, text }).catch((error: unknown) =>
      log.error({ err: error, subject }, 'cannot send mail'),
    )
  }
  return {
    sendVerification: ({ user, url }: Mail) =>
      send(user.email, 'Verify your e-mail address', verificationText(url)),
    sendReset: ({ user, url, token }: Mail) =>
      send(user.email, 'Reset your password', resetText(url, token)),
  }
}

function verificationText(link: string): string {
  const url = new URL(link)
  // Without a page to go on to, the answer itself says that it worked.
  if (url.searchParams.get('callbackURL') === '/') url.searchParams.delete('callbackURL')
  return `Open this link within an hour to verify your e-mail address:\n\n${url}\n\nIf you did not sign up, ignore this message.\n`
}

function resetText(link: string, token: string): string {
  const url = new URL(link)
  const how =
    url.searchParams.get('callbackURL') === ''
      ? `Send this token with your new password to ${url.origin}${url.pathname.replace(/\/[^/]*$/, '')}:\n\n${token}`
      : `Open this link within an hour to choose a new password:\n\n${link}`
  return `${how}\n\nIf you did not ask for this, ignore this message.\n`
}
