import type { Context, Hono } from 'hono'
import { operations } from '../lib/contract/operations.ts'
import { API_PATHS, DOCS_PATH, HOME_PATH, ROBOTS_PATH } from '../lib/contract/pages.ts'
import { ApiError } from '../lib/errors.ts'
import type { Services } from '../lib/services/services.ts'
import { DocsPage } from '../pages/docs.tsx'
import { refuseMethod } from './asset.ts'
import type { Env } from './context.ts'
import { createShowHome } from './home.ts'
import { instanceOf, servePage } from './page.ts'
import { pageAssets } from './page-assets.ts'
import { baseHeaders, toResponse } from './respond.ts'
import { logVisit, openVisit } from './visit.ts'

/** Mounts the pages for people. */
export function mountPages(app: Hono<Env>, services: Services): void {
  const showHome = createShowHome(services)
  app.get(HOME_PATH, (c) => servePage(services, c, HOME_PATH, (visit) => showHome(c, visit)))
  app.get(DOCS_PATH, (c) => servePage(services, c, DOCS_PATH, () => showDocs(services)))
  app.get(ROBOTS_PATH, (c) => serveRobots(services, c))
  for (const path of [HOME_PATH, DOCS_PATH, ROBOTS_PATH]) {
    app.all(path, (c) => toResponse(refuseMethod(services, c, path)))
  }
}

async function showDocs(services: Services) {
  const instance = instanceOf(services)
  const assets = await pageAssets(instance.base, 'docs.css', 'swagger-ui.js', 'docs.js')
  const html = DocsPage({ instance, assets, url: services.baseUrl(), operations })
  return { status: 200, html }
}

/** Answers of look-ups, and pages that show one, are nothing for search engines. */
const ROBOTS = 'User-agent: *\nDisallow: /v1/\nDisallow: /api/\nDisallow: /app\nDisallow: /?ip=\n'

function serveRobots(services: Services, c: Context<Env>): Response {
  const visit = openVisit(services, c, { route: ROBOTS_PATH })
  logVisit(services, visit, 200)
  const headers = { ...baseHeaders(visit.requestId), 'content-type': 'text/plain; charset=utf-8' }
  return new Response(ROBOTS, { headers })
}

/** Whether an unknown path was asked for by a person, who is answered by a page. */
export function isForPeople({ req }: Context<Env>): boolean {
  const isRead = req.method === 'GET' || req.method === 'HEAD'
  return isRead && !API_PATHS.test(req.path) && /\btext\/html\b/.test(req.header('accept') ?? '')
}

export function serveNoPage(services: Services, c: Context<Env>): Promise<Response> {
  return servePage(services, c, undefined, () => {
    throw new ApiError('NOT_FOUND', 'No such page')
  })
}
