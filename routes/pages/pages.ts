import type { Context, Hono } from 'hono'
import { operations } from '../../lib/contract/operations.ts'
import { API_PATHS, DOCS_PATH, HOME_PATH, ROBOTS_PATH } from '../../lib/contract/pages.ts'
import { ApiError } from '../../lib/errors.ts'
import { once } from '../../lib/once.ts'
import type { Services } from '../../lib/services/services.ts'
import { DocsPage } from '../../pages/docs.tsx'
import type { Env } from '../context.ts'
import { toResponse } from '../request/respond.ts'
import { refuseMethod } from '../request/unmatched.ts'
import { showHome } from './home.ts'
import { instanceOf, render, servePage } from './page.ts'
import { pageAssets } from './page-assets.ts'

/** Mounts the public pages. */
export function mountPages(app: Hono<Env>, services: Services): void {
  app.get(HOME_PATH, (c) =>
    servePage(services, c, HOME_PATH, (exchange) => showHome(services, c, exchange)),
  )
  const showDocs = once(() => renderDocs(services))
  app.get(DOCS_PATH, (c) => servePage(services, c, DOCS_PATH, showDocs))
  app.get(ROBOTS_PATH, (c) => servePage(services, c, ROBOTS_PATH, async () => ROBOTS))
  for (const path of [HOME_PATH, DOCS_PATH, ROBOTS_PATH]) {
    app.all(path, (c) => toResponse(refuseMethod(services, c, { route: path })))
  }
}

/** Rendering takes milliseconds, and the page is the same for everybody. */
async function renderDocs(services: Services) {
  const instance = instanceOf(services)
  const assets = await pageAssets(instance.base, 'docs.css', 'swagger-ui.js', 'docs.js')
  const html = await render(DocsPage({ instance, assets, url: services.baseUrl(), operations }))
  return { status: 200, html }
}

/** Keeps look-up results out of search engines. */
const ROBOTS = {
  status: 200,
  file: 'User-agent: *\nDisallow: /v1/\nDisallow: /api/\nDisallow: /app\nDisallow: /?ip=\n',
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
