import type { Context } from 'hono'
import { getCookie } from 'hono/cookie'
import { serialize } from 'hono/utils/cookie'
import { TOKEN } from '../../lib/access/session.ts'
import { APP_PATH } from '../../lib/contract/pages.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Env } from '../context.ts'
import { instanceOf } from '../page.ts'

/** Holds the token of the session. It is sent to the dashboard alone: the API takes no cookie. */
const NAME = 'meridian_dashboard'
/** As long as a session lasts. */
const MAX_AGE_SECONDS = 7 * 24 * 60 * 60

/** The token of the session; null: there is none, or what can be no token. */
export function readSessionCookie(c: Context<Env>): string | null {
  const value = getCookie(c, NAME) ?? ''
  return TOKEN.test(value) ? value : null
}

/** The header Set-Cookie that begins a session. */
export function sessionCookie(services: Services, token: string): string {
  return serialize(NAME, token, { ...optionsOf(services), maxAge: MAX_AGE_SECONDS })
}

/** The header Set-Cookie that ends it. */
export function endedCookie(services: Services): string {
  return serialize(NAME, '', { ...optionsOf(services), maxAge: 0 })
}

/** Lax and not Strict: who comes back from a payment page is to be signed in. */
function optionsOf(services: Services) {
  return {
    path: `${instanceOf(services).base}${APP_PATH}`,
    httpOnly: true,
    sameSite: 'Lax',
    secure: new URL(services.baseUrl()).protocol === 'https:',
  } as const
}
