import { readFileSync } from 'node:fs'
import {
  type Geofeed,
  type GeofeedSetting,
  isUrl,
  problemOfBlocks,
} from '../../config/geofeed-setting.ts'
import { networkText } from '../../parts/net/network.ts'
import { reasonOf } from '../../parts/reason.ts'
import { fileVersion } from '../files/source-files.ts'
import { readRegistryObjects } from './registry-objects.ts'

/** Returns the geofeeds that the settings name, each once. Throws if a file of registry objects cannot be used. */
export function findGeofeeds(settings: readonly GeofeedSetting[]): Geofeed[] {
  const found = settings.flatMap((one) => ('objects' in one ? readObjects(one.objects) : [one]))
  const problem = problemOfBlocks(found.flatMap(({ blocks }) => blocks))
  if (problem !== undefined) throw new Error(`Cannot use the geofeeds: they ${problem}`)
  const bySource = Map.groupBy(found, ({ source }) => source)
  return [...bySource].map(([source, feeds]) => {
    return { source, blocks: feeds.flatMap(({ blocks }) => blocks) }
  })
}

/** Changes when the settings or the files that they name change, but not when feeds at URLs do. */
export function geofeedSignature(settings: readonly GeofeedSetting[]): string {
  const parts = settings.map((one) => {
    if ('objects' in one) return [one.objects, fileVersion(one.objects)]
    const blocks = one.blocks.map(({ address, prefix }) => networkText(address, prefix))
    return [one.source, isUrl(one.source) ? '' : fileVersion(one.source), ...blocks]
  })
  return JSON.stringify(parts)
}

function readObjects(path: string): Geofeed[] {
  try {
    const feeds = readRegistryObjects(readFileSync(path, 'utf8'))
    if (feeds.length > 0) return feeds
    throw new Error('it has no object with a geofeed; write path=blocks if it is a geofeed itself')
  } catch (cause) {
    throw new Error(`Cannot read the registry objects in ${path}: ${reasonOf(cause)}`, { cause })
  }
}
