import type { Context, Hono } from 'hono'
import { ASSET_PATTERN, assetPath } from '../lib/contract/pages.ts'
import { ApiError } from '../lib/errors.ts'
import { type AssetName, isAssetName, loadAsset } from '../lib/page-assets.ts'
import type { Services } from '../lib/services/services.ts'
import type { PageAssets } from '../pages/document.tsx'
import { CACHED_FOR_GOOD, refuseMethod, sendAsset } from './asset.ts'
import type { Env } from './context.ts'
import { toResponse } from './respond.ts'
import { answerError, openVisit } from './visit.ts'

const ROUTE = assetPath('{name}', '{hash}')

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

/** Mounts what pages load: each file at an address that changes with it. */
export function mountPageAssets(app: Hono<Env>, services: Services): void {
  app.get(ASSET_PATTERN, (c) => servePageAsset(services, c))
  app.all(ASSET_PATTERN, (c) => toResponse(refuseMethod(services, c, ROUTE)))
}

async function servePageAsset(services: Services, c: Context<Env>): Promise<Response> {
  const visit = openVisit(services, c, { route: ROUTE })
  try {
    const [name = '', hash, extension = ''] = c.req.path.replace('/assets/', '').split('.')
    const file = `${name}.${extension}`
    const asset = isAssetName(file) ? await loadAsset(file) : undefined
    if (asset === undefined || asset.hash !== hash) {
      throw new ApiError('NOT_FOUND', 'No such version of an asset')
    }
    return sendAsset(services, c, visit, {
      asset,
      headers: {
        'content-type': CONTENT_TYPES[extension] ?? 'application/octet-stream',
        'cache-control': CACHED_FOR_GOOD,
        'cross-origin-resource-policy': 'same-origin',
      },
    })
  } catch (error) {
    return toResponse(answerError(services, visit, error))
  }
}

/** The paths of what a page loads beside what all pages do. */
export async function pageAssets(base: string, ...names: AssetName[]): Promise<PageAssets> {
  const [icon = '', ...paths] = await Promise.all(
    (['favicon.svg', 'site.css', ...names] as const).map((name) => assetHref(base, name)),
  )
  return {
    icon,
    styles: paths.filter((path) => path.endsWith('.css')),
    scripts: paths.filter((path) => path.endsWith('.js')),
  }
}

export async function assetHref(base: string, name: AssetName): Promise<string> {
  const { hash } = await loadAsset(name)
  return `${base}${assetPath(name, hash)}`
}
