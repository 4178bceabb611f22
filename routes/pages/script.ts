import type { Hono } from 'hono'
import { loadScript } from '../../lib/assets/page-assets.ts'
import {
  PINNED_SCRIPT_PATTERN,
  pinnedScriptPath,
  SCRIPT_PATH,
} from '../../lib/contract/telemetry/script.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Env, Handlers } from '../context.ts'
import { toResponse } from '../request/respond.ts'
import { refuseMethod } from '../request/unmatched.ts'
import { IMMUTABLE, serveAsset } from './asset.ts'

const COPIES = [
  { path: SCRIPT_PATH, route: SCRIPT_PATH, caching: 'public, max-age=3600' },
  { path: PINNED_SCRIPT_PATTERN, route: pinnedScriptPath('{hash}'), caching: IMMUTABLE },
] as const

export function scriptHandlers({ baseUrl }: Pick<Services, 'baseUrl'>) {
  return {
    getScriptTag: async () => {
      const { hash, integrity } = await loadScript()
      const src = `${baseUrl()}${pinnedScriptPath(hash)}`
      const snippet = `<script defer src="${src}" integrity="${integrity}" crossorigin="anonymous"></script>`
      return { status: 200, body: { src, integrity, snippet } }
    },
  } satisfies Partial<Handlers>
}

/** Mounts the browser script, at its short path and at the path of its version. */
export function mountScript(app: Hono<Env>, services: Services): void {
  for (const { path, route, caching } of COPIES) {
    app.get(path, (c) => serveAsset(services, c, route, () => loadCopy(c.req.path, caching)))
    app.all(path, (c) => toResponse(refuseMethod(services, c, { route })))
  }
}

async function loadCopy(path: string, caching: string) {
  const asset = await loadScript()
  if (path !== SCRIPT_PATH && path !== pinnedScriptPath(asset.hash)) {
    throw new ApiError('NOT_FOUND', 'No such version of the script')
  }
  return { asset, headers: { ...FOR_ALL_PAGES, 'cache-control': caching } }
}

/** Lets pages of any origin load the script, also those with a Cross-Origin-Embedder-Policy. */
const FOR_ALL_PAGES = {
  'content-type': 'text/javascript; charset=utf-8',
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
}
