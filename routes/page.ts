import type { Context } from 'hono'
import type { HtmlEscapedString } from 'hono/utils/html'
import type { Services } from '../lib/services/services.ts'
import { VERSION } from '../lib/version.ts'
import { ErrorPage } from '../pages/error-page.tsx'
import type { Instance } from '../pages/layout.tsx'
import type { Env } from './context.ts'
import { setLimitHeaders } from './limit-headers.ts'
import { pageAssets } from './page-assets.ts'
import { PAGE_HEADERS } from './page-headers.ts'
import { baseHeaders, type Headers } from './respond.ts'
import { logVisit, openVisit, toShown, type Visit } from './visit.ts'

/** What a page says. */
export interface PageAnswer {
  readonly status: number
  readonly html: HtmlEscapedString | Promise<HtmlEscapedString>
  readonly headers?: Readonly<Headers>
}

/** Answers with the page that `show` makes, or with one that says what went wrong. */
export async function servePage(
  services: Services,
  c: Context<Env>,
  route: string | undefined,
  show: (visit: Visit) => Promise<PageAnswer>,
): Promise<Response> {
  const visit = openVisit(services, c, route === undefined ? {} : { route })
  try {
    return await finished(services, visit, await show(visit))
  } catch (error) {
    return finished(services, visit, await showError(services, visit, error))
  }
}

async function finished(services: Services, visit: Visit, page: PageAnswer): Promise<Response> {
  logVisit(services, visit, page.status)
  const headers: Headers = { ...baseHeaders(visit.requestId), ...PAGE_HEADERS }
  if (visit.charge !== null) setLimitHeaders(headers, visit.charge)
  return new Response(`<!doctype html>${await page.html}`, {
    status: page.status,
    headers: { ...headers, ...page.headers },
  })
}

async function showError(services: Services, visit: Visit, error: unknown): Promise<PageAnswer> {
  const shown = toShown(services, visit, error)
  const instance = instanceOf(services)
  const [title, text] = shown.status === 404 ? NOT_FOUND : FAILED
  const assets = await pageAssets(instance.base)
  const html = ErrorPage({ instance, assets, title, text, requestId: visit.requestId })
  return { status: shown.status, html }
}

const NOT_FOUND = ['No such page', 'Nothing stands at this address.'] as const
const FAILED = ['Something went wrong', 'The page could not be made. Try again later.'] as const

/** What pages are told of this instance. The header Host has no say in it. */
export function instanceOf({ baseUrl }: Services): Instance {
  return { base: new URL(baseUrl()).pathname.replace(/\/$/, ''), version: VERSION }
}
