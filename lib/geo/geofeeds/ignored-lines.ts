import { readFile } from 'node:fs/promises'
import { type GeofeedSetting, isUrl } from '../../config/geofeed-setting.ts'
import { reasonOf } from '../../parts/reason.ts'
import { findGeofeeds } from './find-geofeeds.ts'
import { listIgnoredLines } from './read-geofeed.ts'
import { readStored } from './update-geofeeds.ts'

/**
 * All lines that geofeeds lose, and why: of files as they are now, of URLs in the last accepted version. Each text
 * begins with the feed's URL or path.
 */
export async function ignoredLines(
  directory: string,
  settings: readonly GeofeedSetting[],
): Promise<string[]> {
  const skipped: string[] = []
  const feeds = findGeofeeds(settings, (problem) => skipped.push(problem))
  for (const { source, blocks } of feeds) {
    try {
      const bytes = isUrl(source) ? await readStored(directory, source) : await readFile(source)
      const lines = bytes === undefined ? [] : listIgnoredLines(bytes, blocks)
      skipped.push(...lines.map((line) => `${source}: ${line}`))
    } catch (error) {
      skipped.push(`${source}: ${reasonOf(error)}`)
    }
  }
  return skipped
}
