import { insertAudit } from '../accounts/audit.ts'
import { limitText } from '../contact/cap-notices.ts'
import { Ledger } from '../db/ledger/ledger.ts'
import type { CapNotice } from '../db/ledger/notices.ts'
import { Meters } from '../limits/meters.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../parts/durations.ts'
import { repeat } from '../parts/repeat.ts'
import { sumPastDays } from '../usage/past-days.ts'
import { createRequestCounts, type RequestCounts } from '../usage/request-counts.ts'
import { removeOldUsage } from '../usage/retention.ts'
import type { CapNotices } from './cap-notices.ts'
import type { Foundation } from './foundation.ts'

/** Everything that is counted in memory and written once a second. */
export interface Counters {
  readonly ledger: Ledger
  readonly meters: Meters
  readonly requestCounts: RequestCounts
}

export function openCounters(
  foundation: Foundation,
  notices: CapNotices,
  opening: AsyncDisposableStack,
): Counters {
  const ledger = openLedger(foundation, notices, opening)
  return {
    ledger,
    meters: openMeters(foundation, { ledger, notices }, opening),
    requestCounts: openRequestCounts(foundation, ledger, opening),
  }
}

/** Writes once a second, and once more when the services are closed. */
function openLedger(
  { storage, log }: Foundation,
  notices: CapNotices,
  opening: AsyncDisposableStack,
): Ledger {
  const announce = (notice: CapNotice) => {
    const { userId } = notice
    log.warn({ userId, limit: limitText(notice) }, wordsOf(notice))
    notices.wake()
  }
  const ledger = new Ledger(storage.writeCounts, announce, storage.countsAtOnce)
  opening.defer(async () => {
    try {
      await ledger.flushLast(storage.lastCountsMs)
    } catch (error) {
      log.error({ err: error, lost: ledger.size }, 'cannot write counters')
    }
  })
  const onError = (error: unknown) =>
    log.error({ err: error, waiting: ledger.size }, 'cannot write counters; they are kept')
  const flush = () => storage.flushes.run(() => ledger.flush())
  opening.use(repeat(SECOND_MS, flush, onError))
  return ledger
}

function wordsOf(notice: CapNotice): string {
  if (notice.threshold === 'reach_spending_cap') return 'a user has reached the spending cap'
  return `a user has used ${notice.percent}% of the monthly cap`
}

/** Opens the buckets and counters of callers; `ledger` writes them. */
function openMeters(
  { db, storage, log, now }: Foundation,
  { ledger, notices }: { readonly ledger: Ledger; readonly notices: CapNotices },
  opening: AsyncDisposableStack,
): Meters {
  const record = (notice: CapNotice) => {
    const { userId: actorId, threshold: action } = notice
    const detail = limitText(notice)
    const event = { app: 'api', actorId, action, detail, createdAt: now() } as const
    return [insertAudit(db, event).toSQL(), ...notices.queue(notice)]
  }
  const meters = new Meters({ store: storage.meterStore, ledger, record }, now())
  const onError = (error: unknown) => log.error({ err: error }, 'cannot remove full buckets')
  opening.use(repeat(MINUTE_MS, () => meters.removeIdle(now()), onError))
  opening.defer(() => meters.finish())
  return meters
}

/** Opens the counters of requests by operation; `ledger` writes them. */
function openRequestCounts(
  { storage, db, log, now }: Foundation,
  ledger: Ledger,
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
  const requestCounts = createRequestCounts(ledger)
  opening.use(repeat(MINUTE_MS, () => requestCounts.removeWritten(), onError))
  return requestCounts
}
