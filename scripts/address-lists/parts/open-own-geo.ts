import { join } from 'node:path'
import type { Config } from '../../../lib/config/config.ts'
import { makeDataDir } from '../../../lib/config/data-dir.ts'
import { openGeo } from '../../../lib/geo/open-geo.ts'
import { createProgress } from '../../../lib/geo/progress.ts'
import { createLog } from '../../../lib/parts/log/log.ts'

/** Caches most records of a City file: commands run briefly and may use more memory than a server. */
const CACHE_BITS = 18

/** Opens the databases that a server with this configuration would use. Leaves stdout to the command. */
export function openOwnGeo({ dataDir, geo, logLevel }: Config) {
  makeDataDir(dataDir)
  return openGeo({
    directory: join(dataDir, 'geo'),
    files: geo.files,
    geofeeds: geo.geofeeds,
    map: geo.map,
    cacheBits: CACHE_BITS,
    log: createLog({ level: logLevel, fd: process.stderr.fd }),
    onProgress: createProgress(process.stderr),
    // Uses an existing atlas. Making one is not worth it for a single run.
    ...(geo.atlas && { compileAtlas: async () => {} }),
  })
}
