import type { Context } from 'hono'
import type { HtmlEscapedString } from 'hono/utils/html'
import type { ApiError } from '../lib/errors.ts'
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
export type PageAnswer = (HtmlContent | FileContent) & {
  readonly status: number
  readonly headers?: Readonly<Headers>
}

interface HtmlContent {
  /** null: nothing, since it leads elsewhere. */
  readonly html: HtmlEscapedString | Promise<HtmlEscapedString> | null
}

/** For the script of a page, or to be downloaded from it. */
interface FileContent {
  readonly file: string
  /** Its Content-Type. */
  readonly type: string
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
  const headers: Headers = { ...baseHeaders(visit.requestId), ...PAGE_HEADERS }
  if (visit.charge !== null) setLimitHeaders(headers, visit.charge)
  if ('file' in page) headers['content-type'] = page.type
  const response = new Response(await bodyOf(page), {
    status: page.status,
    headers: { ...headers, ...page.headers },
  })
  // Last: what cannot be made is answered, and logged, as an error.
  logVisit(services, visit, page.status)
  return response
}

async function bodyOf(page: PageAnswer): Promise<string | null> {
  if ('file' in page) return page.file
  return page.html === null ? null : `<!doctype html>${await page.html}`
}

async function showError(services: Services, visit: Visit, error: unknown): Promise<PageAnswer> {
  const shown = toShown(services, visit, error)
  const instance = instanceOf(services)
  const [title, text] = wordsOf(shown)
  const assets = await pageAssets(instance.base)
  const html = ErrorPage({ instance, assets, title, text, requestId: visit.requestId })
  return { status: shown.status, html, headers: shown.headers }
}

function wordsOf({ code, message }: ApiError): readonly [title: string, text: string] {
  switch (code) {
    case 'NOT_FOUND':
      return ['No such page', 'Nothing stands at this address.']
    case 'INTERNAL':
      return ['Something went wrong', 'The page could not be made. Try again later.']
    default:
      return ['This did not work', `${message}.`]
  }
}

/** What pages are told of this instance. The header Host has no say in it. */
export function instanceOf({ baseUrl }: Services): Instance {
  return { base: new URL(baseUrl()).pathname.replace(/\/$/, ''), version: VERSION }
}
