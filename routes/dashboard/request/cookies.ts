import type { Context } from 'hono'
import { getCookie } from 'hono/cookie'
import { serialize } from 'hono/utils/cookie'
import { TOKEN } from '../../../lib/access/session-token.ts'
import { APP_PATH } from '../../../lib/contract/pages.ts'
import type { Services } from '../../../lib/services/services.ts'
import type { Env } from '../../context.ts'
import { instanceOf } from '../../pages/page.ts'

/** Holds the session token. Browsers send it only to the dashboard; the API accepts no cookies. */
const SESSION = 'meridian_dashboard'
/** Tokens of lib/access/sign-in/known-devices.ts: they outlive sessions and give no access. */
const DEVICE = 'meridian_device'
const DAY_SECONDS = 24 * 60 * 60

/** The session token; null if the cookie is missing or malformed. */
export function readSessionCookie(c: Context<Env>): string | null {
  const value = getCookie(c, SESSION) ?? ''
  return TOKEN.test(value) ? value : null
}

/** The Set-Cookie header that starts a session. The cookie lasts as long as a new session. */
export function sessionCookie(services: Services, token: string): string {
  return serializeCookie(services, SESSION, token, 7 * DAY_SECONDS)
}

/** The Set-Cookie header that ends the session. */
export function expiredCookie(services: Services): string {
  return serializeCookie(services, SESSION, '', 0)
}

/** The tokens that make this browser a known device of accounts; '' if there are none. */
export function readDevices(c: Context<Env>): string {
  return getCookie(c, DEVICE) ?? ''
}

interface Browser {
  readonly services: Services
  readonly c: Context<Env>
}

/** The Set-Cookie header that makes this browser a known device of the account. */
export async function deviceCookie({ services, c }: Browser, email: string): Promise<string> {
  const tokens = await services.devices.remember(email, readDevices(c))
  return serializeCookie(services, DEVICE, tokens, 365 * DAY_SECONDS)
}

/** The Set-Cookie header of a cookie for the dashboard alone. */
export function serializeCookie(
  services: Services,
  name: string,
  value: string,
  maxAge: number,
): string {
  return serialize(name, value, { ...optionsOf(services), maxAge })
}

/** Lax, not Strict, so that users who return from Stripe are still signed in. */
function optionsOf(services: Services) {
  return {
    path: `${instanceOf(services).base}${APP_PATH}`,
    httpOnly: true,
    sameSite: 'Lax',
    secure: new URL(services.baseUrl()).protocol === 'https:',
  } as const
}
