import type { Context } from 'hono'
import { ApiError } from '../../../lib/parts/errors.ts'
import type { Services } from '../../../lib/services/services.ts'
import type { Env } from '../../context.ts'

/**
 * Throws FORBIDDEN unless a page of this service sent the form. Sec-Fetch-Site decides. Browsers omit
 * it over plain http; then the Origin must be ours or have the host of the Host header (the browser
 * sends our cookie only to that host). Pages cannot forge these headers (OWASP, Cross-Site Request
 * Forgery Prevention, “Fetch Metadata headers” and “Verifying origin”).
 */
export function refuseOtherSites({ baseUrl }: Services, { req }: Context<Env>): void {
  const site = req.header('sec-fetch-site')
  const origin = req.header('origin') ?? ''
  const isOurs =
    site === undefined
      ? origin === new URL(baseUrl()).origin || hostOf(origin) === req.header('host')
      : site === 'same-origin'
  if (!isOurs) throw new ApiError('FORBIDDEN', 'This form was not sent from the dashboard')
}

/** null if the text is not an origin. Pages that hide their origin send the text `null`. */
function hostOf(origin: string): string | null {
  return URL.parse(origin)?.host ?? null
}
