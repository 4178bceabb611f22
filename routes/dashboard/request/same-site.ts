import type { Context } from 'hono'
import { APP_PATH } from '../../../lib/contract/pages.ts'
import { ApiError } from '../../../lib/parts/errors.ts'
import { LOCAL_HOSTS } from '../../../lib/parts/net/origin.ts'
import type { Services } from '../../../lib/services/services.ts'
import type { Env } from '../../context.ts'

/**
 * Throws FORBIDDEN unless a page of this service sent the form. Sec-Fetch-Site decides. Browsers omit
 * it over plain http; then the Origin must be ours or have the host of the Host header (the browser
 * sends our cookie only to that host). Pages cannot forge these headers (OWASP, Cross-Site Request
 * Forgery Prevention, “Fetch Metadata headers” and “Verifying origin”).
 */
export function refuseOtherSites({ baseUrl, config }: Services, { req }: Context<Env>): void {
  const site = req.header('sec-fetch-site')
  const origin = req.header('origin') ?? ''
  const isOurs =
    site === undefined
      ? origin === new URL(baseUrl()).origin || hostOf(origin) === req.header('host')
      : site === 'same-origin'
  if (isOurs) return
  // A proxy may have rewritten the Host header.
  const advice =
    config.baseUrl === undefined
      ? 'If it was, the administrator must set MERIDIAN_BASE_URL to the address that the browser shows'
      : `It is at ${config.baseUrl}${APP_PATH}`
  throw new ApiError('FORBIDDEN', `This form was not sent from the dashboard. ${advice}`)
}

/**
 * The address of the dashboard over https if the browser sent the form over http: it would then drop the
 * cookie of the session, which is only for https. null if the cookie will be kept: browsers trust the loopback
 * addresses (W3C, Secure Contexts, section 3.1).
 */
export function findSecureUrl({ baseUrl }: Services, { req }: Context<Env>): string | null {
  const origin = URL.parse(req.header('origin') ?? '')
  if (origin?.protocol !== 'http:' || LOCAL_HOSTS.has(origin.hostname)) return null
  return baseUrl().startsWith('https:') ? `${baseUrl()}${APP_PATH}` : null
}

/** null if the text is not an origin. Pages that hide their origin send the text `null`. */
function hostOf(origin: string): string | null {
  return URL.parse(origin)?.host ?? null
}
