import { join } from 'node:path'
import { geofeedSignature } from '../../geo/geofeeds/find-geofeeds.ts'
import { readGeofeedStates } from '../../geo/geofeeds/geofeed-states.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../parts/durations.ts'
import { repeat } from '../../parts/repeat.ts'
import type { Foundation } from '../foundation.ts'

const CHECK_INTERVAL_MS = MINUTE_MS
/** Leaves the start to the first requests. */
const FIRST_CHECK_MS = 5 * SECOND_MS

/**
 * Updates the geofeeds daily, and within a minute when their settings or files have changed. After a failure tries
 * again in an hour. `update` works in another process; undefined: this process must not update.
 */
export function openGeofeeds(
  { config, log, now }: Pick<Foundation, 'config' | 'log' | 'now'>,
  update: (() => Promise<void>) | undefined,
  opening: AsyncDisposableStack,
): void {
  const settings = config.geo.geofeeds
  if (update === undefined || settings.length === 0) return
  const { signature, updatedAt } = readGeofeedStates(join(config.dataDir, 'geo'))
  let last: LastUpdate = { signature, at: updatedAt, hasFailed: false }
  const updateIfDue = async () => {
    const current = geofeedSignature(settings)
    if (!isUpdateDue(last, current, now())) return
    last = { signature: current, at: now(), hasFailed: false }
    try {
      await update()
    } catch (error) {
      last = { ...last, hasFailed: true }
      log.error({ err: error }, 'cannot update all geofeeds; their earlier versions stay in use')
    }
  }
  const onError = (error: unknown) => log.error({ err: error }, 'cannot schedule geofeeds')
  opening.use(repeat(CHECK_INTERVAL_MS, updateIfDue, onError, FIRST_CHECK_MS))
}

interface LastUpdate {
  /** See `geofeedSignature`. */
  readonly signature: string
  /** Epoch milliseconds; 0: never. */
  readonly at: number
  readonly hasFailed: boolean
}

/** Whether to update now. A time in the future comes from a clock that was ahead. */
export function isUpdateDue(last: LastUpdate, signature: string, now: number): boolean {
  const age = now - last.at
  return signature !== last.signature || age < 0 || age >= (last.hasFailed ? HOUR_MS : DAY_MS)
}
