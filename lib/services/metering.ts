import { type AuditEvent, insertAudit } from '../accounts/audit.ts'
import { createFlusher, type Flusher } from '../db/flusher.ts'
import { createMeterStore } from '../limits/meter-store.ts'
import { Meters } from '../limits/meters.ts'
import { createRateLimiter, POLICIES, type RateLimiter } from '../limits/rate-limiter.ts'
import type { CapNotice } from '../limits/user-meter.ts'
import { repeat } from '../periodic.ts'
import type { Base } from './base.ts'

/** The limits that no plan changes. */
export interface Limits {
  readonly account: RateLimiter
  readonly address: RateLimiter
  readonly failures: RateLimiter
  readonly beacons: RateLimiter
  readonly contact: RateLimiter
}

const FLUSH_MS = 1_000
const IDLE_SWEEP_MS = 60_000

export function createLimits(): Limits {
  return {
    account: createRateLimiter(POLICIES.account),
    address: createRateLimiter(POLICIES.address),
    failures: createRateLimiter(POLICIES.failures),
    beacons: createRateLimiter(POLICIES.beacons),
    contact: createRateLimiter(POLICIES.contact),
  }
}

/** Writes once a second, and once more when all is closed. */
export function openFlusher({ db, log }: Base, opening: DisposableStack): Flusher {
  const flusher = createFlusher(db)
  opening.defer(() => {
    try {
      flusher.flushNow()
    } catch (error) {
      log.error({ err: error, lost: flusher.size() }, 'cannot write counters')
    }
  })
  opening.use(
    repeat(FLUSH_MS, flusher.flush, (error) =>
      log.error({ err: error, waiting: flusher.size() }, 'cannot write counters; they are kept'),
    ),
  )
  return flusher
}

/** Buckets and counters of callers; what they count, `flusher` writes. */
export function openMeters(
  { db, log, now }: Base,
  flusher: Flusher,
  opening: DisposableStack,
): Meters {
  const audit = (notice: CapNotice) => {
    insertAudit(db, capEvent(notice, now())).run()
  }
  const announce = ({ userId, warned, cap }: CapNotice) =>
    log.warn({ userId, cap }, `a user has used ${warned} % of the monthly cap`)
  const store = createMeterStore(db)
  const meters = new Meters({ store, write: flusher.add, audit, announce }, now())
  opening.use(
    repeat(
      IDLE_SWEEP_MS,
      () => meters.removeIdle(now()),
      (error) => log.error({ err: error }, 'cannot remove full buckets'),
    ),
  )
  return meters
}

function capEvent({ userId, warned, cap }: CapNotice, now: number): AuditEvent {
  const action = warned === 100 ? 'reach_cap' : 'near_cap'
  const detail = `${warned} % of ${cap} requests`
  return { app: 'api', actorId: userId, action, detail, createdAt: now }
}
