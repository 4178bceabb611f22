import { join } from 'node:path'
import type { Log } from '../log.ts'
import { repeat } from '../periodic.ts'
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
}

const REFRESH_INTERVAL_MS = 2_000

/** Prepares what is not prepared, opens the databases and watches for new ones until disposed of. */
export async function openGeo(options: GeoOptions): Promise<Library & Disposable> {
  const { directory, map, cacheBits, log } = options
  const findFiles = await prepareGeo(options)
  const library = await openLibrary({
    findFiles,
    map,
    cacheBits,
    regionCode: createRegionCode(readRegions(join(directory, PREPARED.regions))),
    log,
  })
  const watch = repeat(REFRESH_INTERVAL_MS, library.refresh, (error) =>
    log.error({ err: error }, 'cannot look for new databases'),
  )
  return { ...library, [Symbol.dispose]: () => watch[Symbol.dispose]() }
}

/** Prepares what is not prepared. Returns a function that says which files there are to serve. */
export async function prepareGeo({
  directory,
  files,
  onProgress,
}: Pick<GeoOptions, 'directory' | 'files' | 'onProgress'>): Promise<() => SourceFile[]> {
  const bundled = findBundled()
  if (files !== undefined) {
    await prepareRegions(directory, bundled, onProgress)
    return () => operatorFiles(directory, files)
  }
  await prepareBundled(directory, bundled, onProgress)
  return () => defaultFiles(directory, bundled)
}
