import type { Context, Hono } from 'hono'
import { loadScript } from '../lib/browser-script.ts'
import { PINNED_SCRIPT_PATTERN, pinnedScriptPath, SCRIPT_PATH } from '../lib/contract/script.ts'
import { ApiError } from '../lib/errors.ts'
import type { Services } from '../lib/services/services.ts'
import { CACHED_FOR_GOOD, refuseMethod, sendAsset } from './asset.ts'
import type { Env, Handlers } from './context.ts'
import { toResponse } from './respond.ts'
import { answerError, openVisit } from './visit.ts'

const COPIES = [
  { path: SCRIPT_PATH, route: SCRIPT_PATH, cacheControl: 'public, max-age=3600' },
  {
    path: PINNED_SCRIPT_PATTERN,
    route: pinnedScriptPath('{hash}'),
    cacheControl: CACHED_FOR_GOOD,
  },
] as const

type Copy = (typeof COPIES)[number]

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
  for (const copy of COPIES) {
    app.get(copy.path, (c) => serveScript(services, c, copy))
    app.all(copy.path, (c) => toResponse(refuseMethod(services, c, copy.route)))
  }
}

async function serveScript(services: Services, c: Context<Env>, copy: Copy): Promise<Response> {
  const visit = openVisit(services, c, { route: copy.route })
  try {
    const asset = await loadScript()
    if (copy.path !== SCRIPT_PATH && c.req.path !== pinnedScriptPath(asset.hash)) {
      throw new ApiError('NOT_FOUND', 'No such version of the script')
    }
    const headers = { ...FOR_ALL_PAGES, 'cache-control': copy.cacheControl }
    return sendAsset(services, c, visit, { asset, headers })
  } catch (error) {
    return toResponse(answerError(services, visit, error))
  }
}

/** Pages of any origin load the script, also those that allow only what says so itself. */
const FOR_ALL_PAGES = {
  'content-type': 'text/javascript; charset=utf-8',
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
}
