import type { Context } from 'hono'
import { ApiError } from '../../lib/errors.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Env } from '../context.ts'

/**
 * Throws FORBIDDEN unless the form was sent from a page of this service. Browsers tell by Fetch
 * Metadata; over plain http, where they tell nothing, by an Origin that is ours, or the host that was
 * asked: under another one there is no cookie of ours. No page can forge them (OWASP, Cross-Site
 * Request Forgery Prevention, “Fetch Metadata headers” and “Verifying origin”).
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

/** null: the text is no origin, as is that of a page which hides its own. */
function hostOf(origin: string): string | null {
  return URL.parse(origin)?.host ?? null
}
