import type { Context } from 'hono'
import type { Asset } from '../../lib/assets/asset.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Env } from '../context.ts'
import { answerError, logExchange, openExchange } from '../request/exchange.ts'
import { chargeAddress } from '../request/limit.ts'
import { setLimitHeaders } from '../request/limit-headers.ts'
import { baseHeaders, type Headers, toResponse } from '../request/respond.ts'

export const IMMUTABLE = 'public, max-age=31536000, immutable'

interface ServedAsset {
  readonly asset: Asset
  /** Its type and caching. */
  readonly headers: Readonly<Headers>
}

/** Answers with the asset that `load` returns, or with 304 if the browser has it. */
export async function serveAsset(
  services: Services,
  c: Context<Env>,
  route: string,
  load: () => Promise<ServedAsset>,
): Promise<Response> {
  const exchange = openExchange(services, c, { route })
  try {
    chargeAddress(services, exchange, 'pages')
    const { asset, headers: given } = await load()
    const etag = `W/"${asset.hash}"`
    const headers = { ...baseHeaders(exchange.requestId), vary: 'Accept-Encoding', ...given, etag }
    if (exchange.charge !== null) setLimitHeaders(headers, exchange.charge)
    const isCached = matchesTag(c.req.header('if-none-match'), etag)
    logExchange(services, exchange, isCached ? 304 : 200)
    return isCached ? notModified(headers) : withContent(asset, c, headers)
  } catch (error) {
    return toResponse(answerError(services, exchange, error))
  }
}

/** Weak comparison with If-None-Match (RFC 9110, section 13.1.2). */
function matchesTag(given: string | undefined, etag: string): boolean {
  if (given === undefined) return false
  const tags = given.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.some((tag) => tag === '*' || `W/${tag}` === etag)
}

function notModified({ 'content-type': _, ...headers }: Headers): Response {
  return new Response(null, { status: 304, headers })
}

function withContent({ bytes, gzipped }: Asset, c: Context<Env>, headers: Headers): Response {
  const accepted = c.req.header('accept-encoding') ?? ''
  if (!/\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/.test(accepted))
    return new Response(bytes, { headers })
  return new Response(gzipped, { headers: { ...headers, 'content-encoding': 'gzip' } })
}
