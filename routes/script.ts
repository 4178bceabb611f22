import type { Context, Hono } from 'hono'
import { type BrowserScript, loadScript } from '../lib/browser-script.ts'
import { PINNED_SCRIPT_PATTERN, pinnedScriptPath, SCRIPT_PATH } from '../lib/contract/script.ts'
import { ApiError } from '../lib/errors.ts'
import type { Services } from '../lib/services.ts'
import type { Env, Handlers } from './context.ts'
import { baseHeaders, type Headers, toResponse } from './respond.ts'
import { answer, answerError, logVisit, openVisit } from './visit.ts'

const ALLOW = 'GET, HEAD, OPTIONS'

const ASSETS = [
  { path: SCRIPT_PATH, route: SCRIPT_PATH, cacheControl: 'public, max-age=3600' },
  {
    path: PINNED_SCRIPT_PATTERN,
    route: pinnedScriptPath('{hash}'),
    cacheControl: 'public, max-age=31536000, immutable',
  },
] as const

type Asset = (typeof ASSETS)[number]

export function scriptHandlers({ baseUrl }: Services) {
  return {
    getScriptTag: async () => {
      const { hash, integrity } = await loadScript()
      const src = `${baseUrl()}${pinnedScriptPath(hash)}`
      const snippet = `<script defer src="${src}" integrity="${integrity}" crossorigin="anonymous"></script>`
      return { status: 200, body: { src, integrity, snippet } }
    },
  } satisfies Partial<Handlers>
}

/** Mounts the browser script, at its short address and at the one of this version. */
export function mountScript(app: Hono<Env>, services: Services): void {
  for (const asset of ASSETS) {
    app.get(asset.path, (c) => serveScript(services, c, asset))
    app.all(asset.path, (c) => toResponse(refuse(services, c, asset)))
  }
}

async function serveScript(services: Services, c: Context<Env>, asset: Asset): Promise<Response> {
  const visit = openVisit(services, c, { route: asset.route })
  try {
    const script = await loadScript()
    if (asset.path !== SCRIPT_PATH && c.req.path !== pinnedScriptPath(script.hash)) {
      throw new ApiError('NOT_FOUND', 'No such version of the script')
    }
    const etag = `W/"${script.hash}"`
    const headers = {
      ...baseHeaders(visit.requestId),
      ...FOR_ALL_PAGES,
      'cache-control': asset.cacheControl,
      etag,
    }
    const isKnown = isListed(c.req.header('if-none-match'), etag)
    logVisit(services, visit, isKnown ? 304 : 200)
    return isKnown ? notModified(headers) : withCode(script, c, headers)
  } catch (error) {
    return toResponse(answerError(services, visit, error))
  }
}

/** Pages of any origin load the script, also those that allow only what says so itself. */
const FOR_ALL_PAGES = {
  'content-type': 'text/javascript; charset=utf-8',
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
  vary: 'Accept-Encoding',
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

function withCode({ code, gzipped }: BrowserScript, c: Context<Env>, headers: Headers): Response {
  const accepted = c.req.header('accept-encoding') ?? ''
  if (!/\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/.test(accepted))
    return new Response(code, { headers })
  return new Response(gzipped, { headers: { ...headers, 'content-encoding': 'gzip' } })
}

function refuse(services: Services, c: Context<Env>, { route }: Asset) {
  const visit = openVisit(services, c, { route })
  const headers = { allow: ALLOW }
  if (c.req.method === 'OPTIONS') {
    return answer(services, visit, { status: 204, json: null, headers })
  }
  const message = `${c.req.path} does not answer ${c.req.method}`
  return answerError(services, visit, new ApiError('METHOD_NOT_ALLOWED', message, { headers }))
}
