import type { Context } from 'hono'
import { raw } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import type { SecretOf } from '../../lib/accounts/kept-answers.ts'
import { VERSION } from '../../lib/config/version.ts'
import type { ApiError } from '../../lib/parts/errors.ts'
import type { Services } from '../../lib/services/services.ts'
import { MadeAt } from '../../pages/dashboard/parts/time.tsx'
import { ErrorPage } from '../../pages/error-page.tsx'
import type { Instance } from '../../pages/layout.tsx'
import type { Env } from '../context.ts'
import { type Exchange, logExchange, openExchange, toPublicError } from '../request/exchange.ts'
import { chargeAddress } from '../request/limit.ts'
import { setLimitHeaders } from '../request/limit-headers.ts'
import { baseHeaders, type Headers } from '../request/respond.ts'
import { pageAssets } from './page-assets.ts'

/** Allows only files of this service, no inline scripts or styles, and no framing. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The headers of every page, in addition to those of every response. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'referrer-policy': 'same-origin',
}

/** A client over its limit gets plain text, because rendering a page would take too long. */
const TEXT = 'text/plain; charset=utf-8'

/** The response of a page. */
export type PageAnswer = (HtmlContent | FileContent) & {
  readonly status: number
  readonly headers?: Readonly<Headers>
  /** Values of Set-Cookie headers. */
  readonly cookies?: readonly string[]
  /** What the new secret on the page belongs to. */
  readonly secretOf?: SecretOf
}

interface HtmlContent {
  /** null for a redirect. */
  readonly html: HtmlEscapedString | Promise<HtmlEscapedString> | null
}

/** A file for the script of a page, or a download. */
interface FileContent {
  readonly file: string | ReadableStream<Uint8Array>
  /** Its Content-Type. */
  readonly type: string
}

/** Answers with the page that `show` renders, or with an error page. */
export async function servePage(
  services: Services,
  c: Context<Env>,
  route: string | undefined,
  show: (exchange: Exchange) => Promise<PageAnswer>,
): Promise<Response> {
  const exchange = openExchange(services, c, { route, path: c.req.path })
  try {
    chargeAddress(services, exchange, 'pages')
    return await respondWith(services, exchange, await show(exchange))
  } catch (error) {
    return respondWith(services, exchange, await showError(services, exchange, error))
  }
}

async function respondWith(
  services: Services,
  exchange: Exchange,
  page: PageAnswer,
): Promise<Response> {
  const headers: Headers = { ...baseHeaders(exchange.requestId), ...PAGE_HEADERS }
  if (exchange.charge !== null) setLimitHeaders(headers, exchange.charge)
  if ('file' in page) headers['content-type'] = page.type
  const response = new Response(await bodyOf(page, services.now()), {
    status: page.status,
    headers: { ...headers, ...page.headers },
  })
  for (const cookie of page.cookies ?? []) response.headers.append('set-cookie', cookie)
  // Logged last, because a page that fails to render is logged as an error.
  logExchange(services, exchange, page.status)
  return response
}

/** Renders once what is the same for everybody. JSX would render it again at each use. */
export async function render(
  part: HtmlEscapedString | Promise<HtmlEscapedString>,
): Promise<HtmlEscapedString> {
  return raw(`${await part}`)
}

async function bodyOf(page: PageAnswer, now: number): Promise<FileContent['file'] | null> {
  if ('file' in page) return page.file
  const html = await page.html
  return html && `<!doctype html>${MadeAt({ now, children: html })}`
}

async function showError(
  services: Services,
  exchange: Exchange,
  error: unknown,
): Promise<PageAnswer> {
  const shown = toPublicError(services, exchange, error)
  if (shown.code === 'RATE_LIMITED') {
    const { status, headers, message } = shown
    return { status, headers, file: `${message}.\n`, type: TEXT }
  }
  const instance = instanceOf(services)
  const [title, text] = errorText(shown)
  const assets = await pageAssets(instance.base)
  const html = ErrorPage({ instance, assets, title, text, requestId: exchange.requestId })
  return { status: shown.status, html, headers: shown.headers }
}

function errorText({ code, message }: ApiError): readonly [title: string, text: string] {
  switch (code) {
    case 'NOT_FOUND':
      return ['Page not found', 'There is no page at this address.']
    case 'INTERNAL':
      return ['Something went wrong', 'We could not show this page. Try again later.']
    default:
      return ['Request failed', `${message}.`]
  }
}

/** Describes this instance to its pages. The result does not depend on the Host header. */
export function instanceOf({ baseUrl }: Services): Instance {
  return { base: new URL(baseUrl()).pathname.replace(/\/$/, ''), version: VERSION }
}
