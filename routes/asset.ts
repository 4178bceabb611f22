import type { Context } from 'hono'
import type { Asset } from '../lib/asset.ts'
import { ApiError } from '../lib/errors.ts'
import type { Services } from '../lib/services/services.ts'
import type { Env } from './context.ts'
import { type Answer, baseHeaders, type Headers } from './respond.ts'
import { answer, answerError, logVisit, openVisit, type Visit } from './visit.ts'

const ALLOW = 'GET, HEAD, OPTIONS'

export const CACHED_FOR_GOOD = 'public, max-age=31536000, immutable'

/** Answers with the asset, or with 304 to who has it. `headers` tell its type and how long to keep it. */
export function sendAsset(
  services: Services,
  c: Context<Env>,
  visit: Visit,
  { asset, headers: given }: { readonly asset: Asset; readonly headers: Readonly<Headers> },
): Response {
  const etag = `W/"${asset.hash}"`
  const headers = { ...baseHeaders(visit.requestId), vary: 'Accept-Encoding', ...given, etag }
  const isKnown = isListed(c.req.header('if-none-match'), etag)
  logVisit(services, visit, isKnown ? 304 : 200)
  return isKnown ? notModified(headers) : withContent(asset, c, headers)
}

/** If-None-Match of RFC 9110, section 13.1.2; the comparison is weak. */
function isListed(given: string | undefined, etag: string): boolean {
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

/**
 * Answers a method that a path does not have, which is only read unless told. `route` is what the log
 * calls the path.
 */
export function refuseMethod(
  services: Services,
  c: Context<Env>,
  route: string,
  allow = ALLOW,
): Answer {
  const visit = openVisit(services, c, { route })
  const headers = { allow }
  if (c.req.method === 'OPTIONS') {
    return answer(services, visit, { status: 204, json: null, headers })
  }
  const message = `${c.req.path} does not answer ${c.req.method}`
  const error = new ApiError('METHOD_NOT_ALLOWED', message, { headers })
  return answerError(services, visit, error)
}
