import { join } from 'node:path'
import type { Config } from '../../lib/config/config.ts'
import { lockFile } from '../../lib/db/lock.ts'
import { makeAtlas } from '../../lib/geo/atlas/file.ts'
import { type OnProgress, PREPARED } from '../../lib/geo/files/prepare.ts'
import { createRegionCode, readRegions } from '../../lib/geo/files/regions.ts'
import type { SourceFile } from '../../lib/geo/files/source-files.ts'
import { openLibrary } from '../../lib/geo/library.ts'
import { createLog } from '../../lib/parts/log/log.ts'

/** Caches 32,768 records of each file: several networks share each record. */
const CACHE_BITS = 15

/**
 * Combines the databases into one index, unless it exists. Throws if a database is not usable or if
 * another process is combining them: that takes too much memory to do twice.
 */
export async function compileAtlas(
  { dataDir, geo }: Config,
  findFiles: () => readonly SourceFile[],
  onProgress: OnProgress,
): Promise<void> {
  const directory = join(dataDir, 'geo')
  const failed = 'Cannot combine the databases'
  using _lock = lockFile(join(directory, 'atlas.lock'), {
    inUse: `${failed}: another process is doing it`,
    failed,
  })
  const library = await openLibrary({
    findFiles,
    map: geo.map,
    cacheBits: CACHE_BITS,
    regionCode: createRegionCode(readRegions(join(directory, PREPARED.regions))),
    log: createLog({ level: 'error', fd: process.stderr.fd }),
  })
  const places = library.files().filter(({ database }) => database.subject === 'place')
  if (places.some(({ isEarlier }) => isEarlier)) throw new Error(`${failed}: one is unusable`)
  const files = places.map(({ file }) => file)
  const show = (share: number) => onProgress('Combine the databases', share)
  await makeAtlas(directory, files, library.places(), show)
}
