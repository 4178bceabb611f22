import { basename, join } from 'node:path'
import { geoAge } from '../../doctor/check-age.ts'
import { OPTIONAL } from '../../geo/files/source-files.ts'
import type { OpenFile } from '../../geo/library.ts'
import { triedLists } from '../../geo/lists/list-states.ts'
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

/** The served databases, in order of priority. */
export function describeDatabases({ geo, now }: Pick<Services, 'geo' | 'now'>): DatabaseState[] {
  return geo.files().map(({ file, database, openedAt, refusal, isEarlier }) => {
    const { name, provider, bytes, metadata } = database
    const { builtAt, databaseType } = metadata
    const { days, isOld } = geoAge(builtAt, now())
    // The operator's own networks have no provider that would publish a newer version.
    const isOwn = basename(file.path) === OPTIONAL.overlay
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
