import { join } from 'node:path'
import type { Log } from '../log.ts'
import { repeat } from '../periodic.ts'
import { findAtlas } from './atlas-file.ts'
import { type AtlasKeeper, createAtlasKeeper } from './atlas-keeper.ts'
import { findBundled } from './bundled.ts'
import { type Library, openLibrary } from './library.ts'
import { type OnProgress, PREPARED, prepareBundled, prepareRegions } from './prepare.ts'
import { createRegionCode, readRegions } from './regions.ts'
import { defaultFiles, operatorFiles, type SourceFile } from './source-files.ts'

export interface GeoOptions {
  /** The folder of prepared, downloaded and copied files. */
  readonly directory: string
  /** The operator's files in order of priority; undefined: the bundled set. */
  readonly files: readonly string[] | undefined
  readonly map: boolean
  /** Up to 2^bits findings are kept per database. */
  readonly cacheBits?: number
  readonly log: Log
  readonly onProgress: OnProgress
  /** Makes the atlas of the files that are served, apart from this process; undefined: none is used. */
  readonly compileAtlas?: (() => Promise<void>) | undefined
}

const REFRESH_INTERVAL_MS = 2_000

/** Prepares what is not prepared, opens the databases and watches for new ones until disposed of. */
export async function openGeo(options: GeoOptions): Promise<Library & Disposable> {
  const { directory, map, cacheBits, log, compileAtlas } = options
  const findFiles = await prepareGeo(options)
  const library = await openLibrary({
    findFiles,
    map,
    cacheBits,
    regionCode: createRegionCode(readRegions(join(directory, PREPARED.regions))),
    log,
    ...(map && compileAtlas !== undefined && { atlas: keepAtlas(options, compileAtlas) }),
  })
  const watch = repeat(REFRESH_INTERVAL_MS, library.refresh, (error) =>
    log.error({ err: error }, 'cannot look for new databases'),
  )
  return { ...library, [Symbol.dispose]: () => watch[Symbol.dispose]() }
}

function keepAtlas({ directory, log }: GeoOptions, compileAtlas: () => Promise<void>): AtlasKeeper {
  const onError = (error: unknown) =>
    log.warn({ err: error }, 'cannot merge the databases beforehand: every look-up merges them')
  return createAtlasKeeper({
    findAtlas: (files) => findAtlas(directory, files),
    make: () => compileAtlas().catch(onError),
  })
}

/** Prepares what is not prepared. Returns a function that says which files there are to serve. */
export async function prepareGeo({
  directory,
  files,
  onProgress,
}: Pick<GeoOptions, 'directory' | 'files' | 'onProgress'>): Promise<() => SourceFile[]> {
  const bundled = findBundled()
  await (files === undefined
    ? prepareBundled(directory, bundled, onProgress)
    : prepareRegions(directory, bundled, onProgress))
  return () => findSources({ directory, files })
}

/** The files there are to serve, in order of priority. Those that are not prepared are missing. */
export function findSources({
  directory,
  files,
}: Pick<GeoOptions, 'directory' | 'files'>): SourceFile[] {
  if (files !== undefined) return operatorFiles(directory, files)
  return defaultFiles(directory, findBundled())
}
