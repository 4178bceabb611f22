import type { Context, Hono } from 'hono'
import { API_PATHS, HOME_PATH, ROBOTS_PATH } from '../../lib/contract/pages.ts'
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
  for (const path of [HOME_PATH, ROBOTS_PATH]) {
    app.all(path, (c) => toResponse(refuseMethod(services, c, { route: path })))
  }
}

/** A program gets its own address as a line, as from peers (echoip, ipinfo). */
function showAddress({ client }: Exchange): PageAnswer {
  return { status: 200, file: `${client?.address.text}\n`, type: 'text/plain; charset=utf-8' }
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
