import { basename, join } from 'node:path'
import { geoAge } from '../../doctor/check-age.ts'
import { OPTIONAL } from '../../geo/files/source-files.ts'
import { readGeofeedStates } from '../../geo/geofeeds/geofeed-states.ts'
import type { OpenFile } from '../../geo/library.ts'
import { triedLists } from '../../geo/network-lists/list-states.ts'
import type { Services } from '../services.ts'

/** A served database, as operators see it. Times are epoch milliseconds. */
export interface DatabaseState {
  readonly name: string
  readonly provider: string
  readonly type: string
  readonly path: string
  readonly bytes: number
  readonly builtAt: number
  readonly ageDays: number
  /** Whether the provider has published a newer one by now. */
  readonly isOld: boolean
  readonly openedAt: number
  readonly refusal: OpenFile['refusal']
  /** Whether the file was refused and an earlier version of it is served. */
  readonly isEarlier: boolean
}

const OWN: readonly string[] = [OPTIONAL.overlay, OPTIONAL.geofeeds]

/** The served databases, in order of priority. */
export function describeDatabases({ geo, now }: Pick<Services, 'geo' | 'now'>): DatabaseState[] {
  return geo.files().map(({ file, database, openedAt, refusal, isEarlier }) => {
    const { name, provider, bytes, metadata } = database
    const { builtAt, databaseType } = metadata
    const { days, isOld } = geoAge(builtAt, now())
    // These change only when their owners change them.
    const isOwn = OWN.includes(basename(file.path))
    return {
      name,
      provider,
      type: databaseType,
      path: file.path,
      bytes,
      builtAt,
      ageDays: days,
      isOld: isOld && !isOwn,
      openedAt,
      refusal,
      isEarlier,
    }
  })
}

/** The free lists that a download has tried, in order of priority. */
export function describeLists({ config }: Pick<Services, 'config'>) {
  return triedLists(join(config.dataDir, 'geo'))
}

/** The geofeeds of the last update, in the order of the settings. */
export function describeGeofeeds({ config }: Pick<Services, 'config'>) {
  if (config.geo.geofeeds.length === 0) return []
  return readGeofeedStates(join(config.dataDir, 'geo')).feeds
}
