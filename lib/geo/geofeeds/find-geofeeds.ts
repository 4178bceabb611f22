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

/** Returns the geofeeds that the settings name, each once. `onUnreadable` gets what single objects are skipped for. Throws if a file of registry objects cannot be used. */
export function findGeofeeds(
  settings: readonly GeofeedSetting[],
  onUnreadable: (problem: string) => void = () => {},
): Geofeed[] {
  const found = settings.flatMap((one) =>
    'objects' in one ? readObjects(one.objects, onUnreadable) : [one],
  )
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

function readObjects(path: string, onUnreadable: (problem: string) => void): Geofeed[] {
  try {
    const text = readFileSync(path, 'utf8')
    const skip = (reason: string) => onUnreadable(`Skipped an object in ${path}: ${reason}`)
    const feeds = readRegistryObjects(text, skip)
    if (feeds.length > 0) return feeds
    if (INSECURE.test(text))
      throw new Error('its geofeeds have http addresses; only https is taken')
    throw new Error('it has no object with a geofeed; write path=blocks if it is a geofeed itself')
  } catch (cause) {
    throw new Error(`Cannot read the registry objects in ${path}: ${reasonOf(cause)}`, { cause })
  }
}

/** RFC 9632, section 6, asks for https. */
const INSECURE = /^(?:geofeed:|(?:remarks|comment):\s*Geofeed:?)\s*http:/im
