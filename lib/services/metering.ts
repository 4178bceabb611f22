import { createLastUsed, type LastUsed } from '../access/last-used.ts'
import { insertAudit } from '../accounts/audit.ts'
import { limitText } from '../contact/cap-notices.ts'
import { createUseFlusher, type UseFlusher } from '../db/use-flusher.ts'
import type { CapNotice } from '../db/uses.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../durations.ts'
import { Meters } from '../limits/meters.ts'
import { repeat } from '../periodic.ts'
import { sumPastDays } from '../usage/past-days.ts'
import { createRequestCounts, type RequestCounts } from '../usage/request-counts.ts'
import { removeOldUsage } from '../usage/retention.ts'
import type { Base } from './base.ts'
import type { CapNotices } from './cap-notices.ts'

/** Everything that is counted in memory and written once a second. */
export interface Counters {
  readonly flusher: UseFlusher
  readonly meters: Meters
  readonly requestCounts: RequestCounts
  readonly lastUsed: LastUsed
}

export function openCounters(
  base: Base,
  notices: CapNotices,
  opening: AsyncDisposableStack,
): Counters {
  const flusher = openFlusher(base, notices, opening)
  return {
    flusher,
    meters: openMeters(base, { flusher, notices }, opening),
    requestCounts: openRequestCounts(base, flusher, opening),
    lastUsed: createLastUsed(flusher.add),
  }
}

/** Writes once a second, and once more when the services are closed. */
function openFlusher(
  { storage, log }: Base,
  notices: CapNotices,
  opening: AsyncDisposableStack,
): UseFlusher {
  const announce = (notice: CapNotice) => {
    const { userId } = notice
    log.warn({ userId, limit: limitText(notice) }, ANNOUNCED[notice.threshold])
    notices.wake()
  }
  const flusher = createUseFlusher(storage.writeUses, announce, storage.usesAtOnce)
  opening.defer(async () => {
    try {
      await flusher.flushLast(storage.lastUsesMs)
    } catch (error) {
      log.error({ err: error, lost: flusher.size() }, 'cannot write counters')
    }
  })
  const onError = (error: unknown) =>
    log.error({ err: error, waiting: flusher.size() }, 'cannot write counters; they are kept')
  const flush = () => storage.flushes.run(flusher.flush)
  opening.use(repeat(SECOND_MS, flush, onError))
  return flusher
}

const ANNOUNCED: Readonly<Record<CapNotice['threshold'], string>> = {
  near_cap: 'a user has used 80 % of the monthly cap',
  reach_cap: 'a user has used 100 % of the monthly cap',
  reach_spending_cap: 'a user has reached the spending cap',
}

/** Opens the buckets and counters of callers; `flusher` writes them. */
function openMeters(
  { db, storage, log, now }: Base,
  { flusher, notices }: { readonly flusher: UseFlusher; readonly notices: CapNotices },
  opening: AsyncDisposableStack,
): Meters {
  const record = (notice: CapNotice) => {
    const { userId: actorId, threshold: action } = notice
    const detail = limitText(notice)
    const event = { app: 'api', actorId, action, detail, createdAt: now() } as const
    return [insertAudit(db, event).toSQL(), ...notices.queue(notice)]
  }
  const meters = new Meters({ store: storage.meterStore, write: flusher.add, record }, now())
  const onError = (error: unknown) => log.error({ err: error }, 'cannot remove full buckets')
  opening.use(repeat(MINUTE_MS, () => meters.removeIdle(now()), onError))
  opening.defer(() => meters.finish())
  return meters
}

/** Opens the counters of requests by operation; `flusher` writes them. */
function openRequestCounts(
  { storage, db, log, now }: Base,
  flusher: UseFlusher,
  opening: AsyncDisposableStack,
): RequestCounts {
  const onError = (error: unknown) =>
    log.error({ err: error }, 'cannot sum up or remove old counts')
  const tidyUp = async () => {
    await sumPastDays(db, now())
    await removeOldUsage(db, now())
  }
  const tidyUpAlone = () => storage.leases.runAlone('usage retention', tidyUp, { restMs: HOUR_MS })
  opening.use(repeat(HOUR_MS, tidyUpAlone, onError))
  const requestCounts = createRequestCounts(flusher)
  opening.use(repeat(MINUTE_MS, () => requestCounts.removeWritten(), onError))
  return requestCounts
}
