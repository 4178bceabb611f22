import type { Context, Hono } from 'hono'
import { API_PATHS, HOME_PATH, ROBOTS_PATH, SECURITY_PATH } from '../../lib/contract/pages.ts'
import { DAY_MS } from '../../lib/parts/durations.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Env } from '../context.ts'
import type { Exchange } from '../request/exchange.ts'
import { toResponse } from '../request/respond.ts'
import { refuseMethod } from '../request/unmatched.ts'
import { showHome } from './home.ts'
import { isLocalProgram } from './local-program.ts'
import { type PageAnswer, servePage } from './page.ts'

/** Mounts the public pages. */
export function mountPages(app: Hono<Env>, services: Services): void {
  app.get(HOME_PATH, (c) =>
    servePage(services, c, HOME_PATH, async (exchange) =>
      isLocalProgram(services.config, c) ? showAddress(exchange) : showHome(services, c, exchange),
    ),
  )
  app.get(ROBOTS_PATH, (c) => servePage(services, c, ROBOTS_PATH, async () => ROBOTS))
  const { contact } = services.config
  // Without an address to report to, RFC 9116 allows no such file.
  if (contact?.kind === 'mail') {
    app.get(SECURITY_PATH, (c) =>
      servePage(services, c, SECURITY_PATH, async () => securityText(services, contact.to)),
    )
  }
  for (const path of [HOME_PATH, ROBOTS_PATH]) {
    app.all(path, (c) => toResponse(refuseMethod(services, c, { route: path })))
  }
}

/** A program gets its own address as a line, as from peers (echoip, ipinfo). */
function showAddress({ client }: Exchange): PageAnswer {
  return { status: 200, file: `${client?.address.text}\n`, type: 'text/plain; charset=utf-8' }
}

/** RFC 9116, section 2.5.5, recommends less than a year. */
const SECURITY_DAYS = 90

/** Says where to report a vulnerability of this server (RFC 9116). */
function securityText({ baseUrl, now }: Services, to: string): PageAnswer {
  const expires = new Date(now() + SECURITY_DAYS * DAY_MS).toISOString()
  const lines = [
    `Contact: mailto:${to}`,
    `Expires: ${expires}`,
    `Canonical: ${baseUrl()}${SECURITY_PATH}`,
  ]
  return { status: 200, file: `${lines.join('\n')}\n`, type: 'text/plain; charset=utf-8' }
}

/** Keeps look-up results out of search engines. */
const ROBOTS = {
  status: 200,
  file: 'User-agent: *\nDisallow: /v1/\nDisallow: /api/\nDisallow: /app\nDisallow: /?ip=\nDisallow: /docs?q=\n',
  type: 'text/plain; charset=utf-8',
} as const

/** Whether a person requested this unknown path and should get a page instead of JSON. */
export function wantsPage({ req }: Context<Env>): boolean {
  const isRead = req.method === 'GET' || req.method === 'HEAD'
  return isRead && !API_PATHS.test(req.path) && /\btext\/html\b/.test(req.header('accept') ?? '')
}

export function serveNotFound(services: Services, c: Context<Env>): Promise<Response> {
  return servePage(services, c, undefined, () => {
    throw new ApiError('NOT_FOUND', 'No such page')
  })
}
