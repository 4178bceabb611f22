import type { Hono } from 'hono'
import type { Asset } from '../../lib/assets/asset.ts'
import { type AssetName, isAssetName, loadAsset, loadTiles } from '../../lib/assets/page-assets.ts'
import { ASSET_PATTERN, assetPath, FAVICON_PATH } from '../../lib/contract/pages.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import type { Services } from '../../lib/services/services.ts'
import type { MapHrefs } from '../../pages/answer.tsx'
import type { PageAssets } from '../../pages/document.tsx'
import type { Env } from '../context.ts'
import { toResponse } from '../request/respond.ts'
import { refuseMethod } from '../request/unmatched.ts'
import { IMMUTABLE, serveAsset } from './asset.ts'

const ROUTE = assetPath('{name}', '{hash}')

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
}

/** Mounts the files that pages load. The address of a file changes with its content. */
export function mountPageAssets(app: Hono<Env>, services: Services): void {
  app.get(ASSET_PATTERN, (c) => serveAsset(services, c, ROUTE, () => loadPageAsset(c.req.path)))
  app.get(FAVICON_PATH, (c) => serveAsset(services, c, FAVICON_PATH, loadIcon))
  app.all(ASSET_PATTERN, (c) => toResponse(refuseMethod(services, c, { route: ROUTE })))
}

/** The same icon under a fixed address. */
async function loadIcon() {
  const headers = {
    'content-type': 'image/svg+xml',
    'cache-control': 'public, max-age=86400',
    'cross-origin-resource-policy': 'same-origin',
  }
  return { asset: await loadAsset('favicon.svg'), headers }
}

/** Throws NOT_FOUND unless it is the path of a file as it is now. */
export async function loadPageAsset(path: string) {
  const [name = '', hash, extension = ''] = path.replace('/assets/', '').split('.')
  const file = `${name}.${extension}`
  const asset = isAssetName(file) ? await loadAsset(file) : await findTile(file)
  if (asset === undefined || asset.hash !== hash) throw new ApiError('NOT_FOUND', 'Asset not found')
  const headers = {
    'content-type': CONTENT_TYPES[extension] ?? 'application/octet-stream',
    'cache-control': IMMUTABLE,
    'cross-origin-resource-policy': 'same-origin',
  }
  return { asset, headers }
}

async function findTile(file: string): Promise<Asset | undefined> {
  const [, name = ''] = /^map-(.*)\.svg$/.exec(file) ?? []
  return (await loadTiles()).tiles.get(name)
}

/** Where the maps of a place are. */
export async function mapHrefs(base: string): Promise<MapHrefs> {
  const { hash } = await loadTiles()
  const tiles = `${base}${assetPath('map-{tile}.svg', hash)}`
  return { world: await assetHref(base, 'world-map.svg'), tiles }
}

/** The paths of the named files and of those that every page loads. */
export async function pageAssets(base: string, ...names: AssetName[]): Promise<PageAssets> {
  const [icon = '', font = '', ...paths] = await Promise.all(
    (['favicon.svg', 'geist.woff2', 'site.css', ...names] as const).map((name) =>
      assetHref(base, name),
    ),
  )
  return {
    icon,
    font,
    styles: paths.filter((path) => path.endsWith('.css')),
    scripts: paths.filter((path) => path.endsWith('.js')),
  }
}

export async function assetHref(base: string, name: AssetName): Promise<string> {
  const { hash } = await loadAsset(name)
  return `${base}${assetPath(name, hash)}`
}
