import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { GeofeedSetting } from '../config/geofeed-setting.ts'
import { MINUTE_MS } from '../parts/durations.ts'
import type { Log } from '../parts/log/log.ts'
import { reasonOf } from '../parts/reason.ts'
import { repeat } from '../parts/repeat.ts'
import { findAtlas } from './atlas/file.ts'
import { type AtlasKeeper, createAtlasKeeper } from './atlas/keeper.ts'
import { findBundled } from './files/bundled.ts'
import { type OnProgress, PREPARED, prepareBundled, prepareRegions } from './files/prepare.ts'
import { createRegionCode, readRegions } from './files/regions.ts'
import { removeAbandoned } from './files/replace-file.ts'
import {
  addGeofeeds,
  defaultFiles,
  OPERATOR_REMEDY,
  operatorFiles,
  type SourceFile,
} from './files/source-files.ts'
import { type Library, openLibrary } from './library.ts'

interface PrepareOptions {
  /** The folder for prepared, downloaded and copied files. */
  readonly directory: string
  /** The operator's files, in order of priority; undefined: the bundled set. */
  readonly files: readonly string[] | undefined
  /** Absent or empty: compiled geofeeds are not served. */
  readonly geofeeds?: readonly GeofeedSetting[]
  readonly onProgress: OnProgress
}

export interface GeoOptions extends PrepareOptions {
  readonly map: boolean
  /** The cache of each database holds up to 2^cacheBits findings. */
  readonly cacheBits?: number
  readonly log: Log
  /** Epoch milliseconds; default: the system's clock. */
  readonly now?: () => number
  /** Makes the atlas in another process; undefined: use none. */
  readonly compileAtlas?: (() => Promise<void>) | undefined
}

const REFRESH_INTERVAL_MS = 2_000

/** Prepares missing files, opens the databases and watches for new ones until disposed. */
export async function openGeo(options: GeoOptions): Promise<Library & Disposable> {
  const { directory, map, cacheBits, log, now, compileAtlas } = options
  await refuseUnusable(options)
  const findFiles = await prepareGeo(options)
  const library = await openLibrary({
    findFiles,
    map,
    cacheBits,
    regionCode: createRegionCode(readRegions(join(directory, PREPARED.regions))),
    log,
    clock: now,
    ...(map && compileAtlas !== undefined && { atlas: keepAtlas(options, compileAtlas) }),
  })
  const refresh = () => {
    // Not only at startup: files left just before it count as abandoned six hours later.
    removeAbandoned(directory)
    return library.refresh()
  }
  const watch = repeat(REFRESH_INTERVAL_MS, refresh, (error) =>
    log.error({ err: error }, 'cannot look for new databases'),
  )
  return { ...library, [Symbol.dispose]: () => watch[Symbol.dispose]() }
}

function keepAtlas({ directory, log }: GeoOptions, compileAtlas: () => Promise<void>): AtlasKeeper {
  return createAtlasKeeper({
    findAtlas: (files) => findAtlas(directory, files),
    make: compileAtlas,
    onFailure: (error, waitMs) =>
      log.warn(
        { reason: reasonOf(error), retryInMinutes: waitMs / MINUTE_MS },
        'cannot combine the databases into one index; look-ups are slower',
      ),
  })
}

/**
 * Removes what killed processes left and prepares missing files. Returns a function that lists the
 * files to serve.
 */
export async function prepareGeo(options: PrepareOptions) {
  const { directory, files, onProgress } = options
  removeAbandoned(directory)
  refuseMissing(files)
  const bundled = findBundled()
  await (files === undefined
    ? prepareBundled(directory, bundled, onProgress)
    : prepareRegions(directory, bundled, onProgress))
  return () => findSourceFiles(options)
}

/** Throws if one of the files is missing: otherwise that would show only after a minute of preparing files. */
function refuseMissing(files: readonly string[] = []): void {
  const missing = files.find((path) => !existsSync(path))
  if (missing === undefined) return
  throw new Error(`Cannot use the database ${missing}: there is no such file; ${OPERATOR_REMEDY}`)
}

/**
 * Throws if one of the operator's files cannot be served: otherwise that would show only after the bundled City
 * file is unpacked for the names of regions.
 */
async function refuseUnusable(options: GeoOptions): Promise<void> {
  const { directory, files, map, log } = options
  if (files === undefined || existsSync(join(directory, PREPARED.regions))) return
  refuseMissing(files)
  const findFiles = () => findSourceFiles(options)
  await openLibrary({ findFiles, map, log, regionCode: () => undefined })
}

/** Lists the files to serve, in order of priority. Prepares nothing, so some may be missing. */
export function findSourceFiles({
  directory,
  files,
  geofeeds = [],
}: Omit<PrepareOptions, 'onProgress'>): SourceFile[] {
  const found =
    files === undefined ? defaultFiles(directory, findBundled()) : operatorFiles(directory, files)
  return geofeeds.length === 0 ? found : addGeofeeds(directory, found)
}
