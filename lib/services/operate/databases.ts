import { basename, join } from 'node:path'
import { geoAge, whyOld } from '../../doctor/check-age.ts'
import { OPTIONAL } from '../../geo/files/source-files.ts'
import { readGeofeedStates } from '../../geo/geofeeds/geofeed-states.ts'
import type { OpenFile } from '../../geo/library.ts'
import { triedLists } from '../../geo/network-lists/list-states.ts'
import { renewalOf } from '../geo/downloads.ts'
import type { AccountOrigin } from '../geo/maxmind-account.ts'
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
  /** Why the data is older than the provider's newest, and what to do; undefined: it is not. */
  readonly old: ReturnType<typeof whyOld> | undefined
  readonly openedAt: number
  readonly refusal: OpenFile['refusal']
  /** Whether the file was refused and an earlier version of it is served. */
  readonly isEarlier: boolean
}

const OWN: readonly string[] = [OPTIONAL.overlay, OPTIONAL.geofeeds]

/** The served databases, in order of priority. */
export function describeDatabases(
  { config, geo, now }: Pick<Services, 'config' | 'geo' | 'now'>,
  account: AccountOrigin,
): DatabaseState[] {
  const renewal = renewalOf(config, account)
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
      old: isOld && !isOwn ? whyOld(provider, renewal) : undefined,
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
