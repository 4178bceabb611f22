import type { Context } from 'hono'
import { parse, serialize } from 'hono/utils/cookie'
import { SESSION_MS } from '../../../lib/access/find-session.ts'
import { TOKEN } from '../../../lib/access/session-token.ts'
import { APP_PATH } from '../../../lib/contract/pages.ts'
import { SECOND_MS } from '../../../lib/parts/durations.ts'
import { ApiError } from '../../../lib/parts/errors.ts'
import type { Services } from '../../../lib/services/services.ts'
import type { Env } from '../../context.ts'
import { instanceOf } from '../../pages/page.ts'

/** Holds the session token. The API accepts no cookies. */
const SESSION = 'meridian_dashboard'
/** Tokens of lib/access/sign-in/known-devices.ts: they outlive sessions and give no access. */
const DEVICE = 'meridian_device'
const DAY_SECONDS = 24 * 60 * 60

/** The session token; null if the cookie is missing or malformed. Throws if there are several. */
export function readSessionCookie(services: Services, c: Context<Env>): string | null {
  const values = readCookies(services, c, SESSION)
  if (values.length > 1) throw new ApiError('BAD_REQUEST', SEVERAL)
  const [value = ''] = values
  return TOKEN.test(value) ? value : null
}

/** Without the cookie that we set, the other one would lead into a stranger's account. So none is removed. */
const SEVERAL =
  'Your browser has more than one cookie for this session, so another site may have set one of them. Delete the cookies of this site and its neighbours in your browser, and sign in again'

/** The value of the cookie; null if there is none, or several. */
export function readCookie(services: Services, c: Context<Env>, name: string): string | null {
  const [value, ...others] = readCookies(services, c, name)
  return value === undefined || others.length > 0 ? null : value
}

/** All values: of two cookies with one name, browsers send first the one that was set for a longer path. */
function readCookies(services: Services, c: Context<Env>, name: string): string[] {
  const prefixed = nameOf(services, name)
  return (c.req.header('cookie') ?? '')
    .split(';')
    .flatMap((pair) => parse(pair, prefixed)[prefixed] ?? [])
}

/** The Set-Cookie header that starts or extends a session. The cookie lasts as long as a new session. */
export function sessionCookie(services: Services, token: string): string {
  return serializeCookie(services, SESSION, token, SESSION_MS / SECOND_MS)
}

/** Whether the answer itself starts or ends a session. */
export function setsSession(services: Services, cookies: readonly string[]): boolean {
  return cookies.some((cookie) => cookie.startsWith(`${nameOf(services, SESSION)}=`))
}

/** The Set-Cookie header that ends the session. */
export function expiredCookie(services: Services): string {
  return serializeCookie(services, SESSION, '', 0)
}

/** The tokens that make this browser a known device of accounts; '' if there are none. */
export function readDevices({ services, c }: Browser): string {
  return readCookie(services, c, DEVICE) ?? ''
}

interface Browser {
  readonly services: Services
  readonly c: Context<Env>
}

/** The Set-Cookie header that makes this browser a known device of the account. */
export async function deviceCookie({ services, c }: Browser, email: string): Promise<string> {
  const tokens = await services.devices.remember(email, readDevices({ services, c }))
  return serializeCookie(services, DEVICE, tokens, 365 * DAY_SECONDS)
}

/** The Set-Cookie header of a cookie for the dashboard alone. */
export function serializeCookie(
  services: Services,
  name: string,
  value: string,
  maxAge: number,
): string {
  return serialize(nameOf(services, name), value, { ...optionsOf(services), maxAge })
}

/**
 * With https, browsers accept no cookie with the prefix __Host- from another host or for another path, and
 * none with __Secure- over http: RFC 6265bis, section 4.1.3. The first needs the path /, which a service
 * below a path of a host shares with others.
 */
function nameOf(services: Services, name: string): string {
  const { secure, path } = optionsOf(services)
  if (!secure) return name
  return path === '/' ? `__Host-${name}` : `__Secure-${name}`
}

/** Lax, not Strict, so that users who return from Stripe are still signed in. */
function optionsOf(services: Services) {
  const secure = new URL(services.baseUrl()).protocol === 'https:'
  const { base } = instanceOf(services)
  const path = secure && base === '' ? '/' : `${base}${APP_PATH}`
  return { path, httpOnly: true, sameSite: 'Lax', secure } as const
}
