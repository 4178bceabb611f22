import { once } from '../parts/once.ts'
import { createSerialQueue } from '../parts/serial-queue.ts'
import { type Asset, hashOf, toAsset } from './asset.ts'
import { makeSource, type SourceName } from './sources.ts'

const inSeries = createSerialQueue()

/** The script that measures pages, which other people's pages load. */
export const loadScript = load('rum.js')

/** The files that our pages load. */
const LOADERS = {
  'site.css': load('site.css'),
  'geist.woff2': load('geist.woff2'),
  'favicon.svg': load('favicon.svg'),
  'home.js': load('home.js'),
  'app.css': load('app.css'),
  'app.js': load('app.js'),
  'batch.js': load('batch.js'),
  'world-map.svg': load('world-map.svg'),
  'vitals.js': load('vitals.js'),
  'usage.js': load('usage.js'),
  'docs.css': load('docs.css'),
  'docs.js': load('docs.js'),
} as const

export type AssetName = keyof typeof LOADERS

/** Makes the file on first use. */
function load(name: SourceName): () => Promise<Asset> {
  return once(() => makeAsset(name))
}

export function loadAsset(name: AssetName): Promise<Asset> {
  return LOADERS[name]()
}

/** The tiles of the near map by name. All have the same hash, which a page needs to name any of them. */
export const loadTiles = once(() =>
  inSeries(async () => {
    const source = await makeSource('near-map.json')
    const hash = hashOf(source)
    const images: Record<string, string> = JSON.parse(Buffer.from(source).toString())
    const tiles = await Promise.all(
      Object.entries(images).map(async ([name, image]): Promise<[string, Asset]> => {
        return [name, { ...(await toAsset(Buffer.from(image))), hash }]
      }),
    )
    return { hash, tiles: new Map(tiles) }
  }),
)

/** One function per file, which loads the file before a request needs it. */
export const ASSET_LOADS = [loadScript, loadTiles, ...Object.values(LOADERS)]

export function isAssetName(name: string): name is AssetName {
  return Object.hasOwn(LOADERS, name)
}

/** Makes an asset. Only one is made at a time, to save memory. */
function makeAsset(name: SourceName): Promise<Asset> {
  return inSeries(async () => toAsset(await makeSource(name)))
}
