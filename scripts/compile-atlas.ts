import { join } from 'node:path'
import type { Config } from '../lib/config.ts'
import { makeAtlas } from '../lib/geo/atlas-file.ts'
import { openLibrary } from '../lib/geo/library.ts'
import { type OnProgress, PREPARED } from '../lib/geo/prepare.ts'
import { createRegionCode, readRegions } from '../lib/geo/regions.ts'
import type { SourceFile } from '../lib/geo/source-files.ts'
import { createLog } from '../lib/log.ts'

/** Most records of a City file are met several times. */
const CACHE_BITS = 18

/** Merges the databases beforehand, unless that is done. Throws where one of them is not usable. */
export async function compileAtlas(
  { dataDir, geo }: Config,
  findFiles: () => readonly SourceFile[],
  onProgress: OnProgress,
): Promise<void> {
  const directory = join(dataDir, 'geo')
  const files = findFiles()
  const library = await openLibrary({
    findFiles: () => files,
    map: geo.map,
    cacheBits: CACHE_BITS,
    regionCode: createRegionCode(readRegions(join(directory, PREPARED.regions))),
    log: createLog({ level: 'error', fd: process.stderr.fd }),
  })
  if (library.refused() > 0) throw new Error('Cannot merge the databases: one is not usable')
  const show = (share: number) => onProgress('Merge the databases', share)
  await makeAtlas(directory, files, library.list(), show)
}
