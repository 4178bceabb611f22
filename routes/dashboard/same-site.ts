import type { Context } from 'hono'
import { ApiError } from '../../lib/errors.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Env } from '../context.ts'

/**
 * Throws FORBIDDEN unless the form was sent from a page of this service. Browsers tell by Fetch
 * Metadata; over plain http, where they tell nothing, the Origin has to be ours. No page can forge
 * either (OWASP, Cross-Site Request Forgery Prevention, “Fetch Metadata headers”).
 */
export function refuseOtherSites({ baseUrl }: Services, { req }: Context<Env>): void {
  const site = req.header('sec-fetch-site')
  const isOurs =
    site === undefined ? req.header('origin') === new URL(baseUrl()).origin : site === 'same-origin'
  if (!isOurs) throw new ApiError('FORBIDDEN', 'This form was not sent from the dashboard')
}
