import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { once } from '../once.ts'
import { type Asset, toAsset } from './asset.ts'
import { bundle } from './bundle.ts'
import { drawWorldMap } from './world-map.ts'

const { resolve } = createRequire(import.meta.url)

/** The files that pages load. Each is read or bundled on first use. */
const LOADERS = {
  'site.css': load(() => bundle('site/site.css')),
  'favicon.svg': load(() => readFile(new URL('../../web/site/favicon.svg', import.meta.url))),
  'home.js': load(() => bundle('home/main.tsx')),
  'app.css': load(() => bundle('app/style/app.css')),
  'app.js': load(() => bundle('app/main.ts')),
  'batch.js': load(() => bundle('app/batch/batch.ts')),
  'world-map.svg': load(drawWorldMap),
  'vitals.js': load(() => bundle('app/vitals.ts')),
  'docs.css': load(() => bundle('docs/docs.css')),
  'docs.js': load(() => bundle('docs/main.ts')),
  'swagger-ui.js': load(() => readFile(resolve('swagger-ui-dist/swagger-ui-bundle.js'))),
} as const

export type AssetName = keyof typeof LOADERS

function load(read: () => Promise<Uint8Array>): () => Promise<Asset> {
  return once(async () => toAsset(await read()))
}

export function loadAsset(name: AssetName): Promise<Asset> {
  return LOADERS[name]()
}

/** One function per file, which loads the file before a request needs it. */
export const ASSET_LOADS = Object.values(LOADERS)

export function isAssetName(name: string): name is AssetName {
  return Object.hasOwn(LOADERS, name)
}
