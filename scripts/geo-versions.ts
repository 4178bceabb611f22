import { join } from 'node:path'
import type { GeoVersion } from '../lib/backup/manifest.ts'
import type { Config } from '../lib/config.ts'
import { openDatabase } from '../lib/geo/database.ts'
import { findSources } from '../lib/geo/open-geo.ts'

/** What is known of a database that a server would serve. */
export type GeoFile = GeoVersion | { readonly name: string; readonly problem: string }

/** Opens each database as a server would, in order of priority. */
export async function readGeoFiles({ dataDir, geo }: Config): Promise<GeoFile[]> {
  const sources = findSources({ directory: join(dataDir, 'geo'), files: geo.files })
  const files: GeoFile[] = []
  for (const { path, name } of sources) {
    try {
      const options = { map: false, regionCode: () => undefined, cacheBits: 1, name }
      const { bytes, metadata } = await openDatabase(path, options)
      files.push({ name, bytes, builtAt: new Date(metadata.builtAt).toISOString() })
    } catch (error) {
      files.push({ name, problem: error instanceof Error ? error.message : String(error) })
    }
  }
  return files
}
