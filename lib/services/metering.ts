import { insertAudit } from '../accounts/audit.ts'
import type { AuditAction } from '../contract/account/audit-actions.ts'
import { createUseFlusher, type UseFlusher } from '../db/use-flusher.ts'
import type { CapNotice } from '../db/uses.ts'
import { MINUTE_MS, SECOND_MS } from '../durations.ts'
import { createMeterStore } from '../limits/meter-store.ts'
import { Meters } from '../limits/meters.ts'
import { repeat } from '../periodic.ts'
import type { Base } from './base.ts'

/** Writes once a second, and once more when the services are closed. */
export function openFlusher({ storage, log }: Base, opening: AsyncDisposableStack): UseFlusher {
  const announce = ({ userId, warned, cap }: CapNotice) =>
    log.warn({ userId, cap }, `a user has used ${warned} % of the monthly cap`)
  const flusher = createUseFlusher(storage.writeUses, announce)
  opening.defer(async () => {
    try {
      await flusher.flush()
    } catch (error) {
      log.error({ err: error, lost: flusher.size() }, 'cannot write counters')
    }
  })
  const onError = (error: unknown) =>
    log.error({ err: error, waiting: flusher.size() }, 'cannot write counters; they are kept')
  opening.use(repeat(SECOND_MS, flusher.flush, onError))
  return flusher
}

/** Opens the buckets and counters of callers; `flusher` writes them. */
export function openMeters(
  { db, log, now }: Base,
  flusher: UseFlusher,
  opening: AsyncDisposableStack,
): Meters {
  const audit = ({ userId, warned, cap }: CapNotice) => {
    const action: AuditAction = warned === 100 ? 'reach_cap' : 'near_cap'
    const detail = `${warned} % of ${cap} requests`
    const event = { app: 'api', actorId: userId, action, detail, createdAt: now() } as const
    return insertAudit(db, event).toSQL()
  }
  const store = createMeterStore(db)
  const meters = new Meters({ store, write: flusher.add, audit }, now())
  const onError = (error: unknown) => log.error({ err: error }, 'cannot remove full buckets')
  opening.use(repeat(MINUTE_MS, () => meters.removeIdle(now()), onError))
  return meters
}
