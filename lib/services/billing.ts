import { fitKeyExpiry } from '../access/key-expiry.ts'
import type { KeyRing } from '../access/key-ring.ts'
import { insertAudit } from '../accounts/audit.ts'
import { type Billing, createBilling } from '../billing/billing.ts'
import { createCatalogue } from '../billing/catalogue.ts'
import { removeOldEvents } from '../billing/events/received-events.ts'
import { reconcile } from '../billing/events/reconcile.ts'
import { createOverages, type Overages } from '../billing/overages/overages.ts'
import type { UseFlusher } from '../db/use-flusher.ts'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../durations.ts'
import { repeat } from '../periodic.ts'
import type { Base } from './base.ts'

/** `timeLimitMs`: how long an action may wait for Stripe. */
export function openBilling(
  { config, db, plans, log, now }: Base,
  keys: KeyRing,
  timeLimitMs?: number,
): Billing {
  return createBilling({
    db,
    plans,
    stripe: config.stripe,
    change: keys.change,
    fitKeys: (userId) => fitKeyExpiry(db, plans, now(), userId),
    auditStripe: (userId, note) =>
      insertAudit(db, { app: 'stripe', actorId: userId, createdAt: now(), ...note }),
    onFailure: (failure) => log.error({ ...failure }, 'a call to Stripe failed'),
    ...(timeLimitMs !== undefined && { timeLimitMs }),
  })
}

const REPORT_INTERVAL_MS = 10 * SECOND_MS

/** Reports requests over the cap if Stripe is configured. */
export function openOverages(
  { config, log, now }: Base,
  { billing, flusher }: { readonly billing: Billing; readonly flusher: UseFlusher },
  opening: AsyncDisposableStack,
): Overages {
  const overages = createOverages({
    billing,
    flush: flusher.flush,
    now,
    onRefused: ({ identifier, userId }) =>
      log.error(
        { identifier, userId },
        'Stripe refuses an overage report, or STRIPE_PRICE_OVERAGE is unset; retried hourly',
      ),
  })
  if (config.stripe.secretKey === undefined) return overages
  const onError = (error: unknown) =>
    log.error({ err: error }, 'cannot report overages; they are kept')
  const onCleanupError = (error: unknown) =>
    log.error({ err: error }, 'cannot remove old overage reports')
  opening.use(repeat(REPORT_INTERVAL_MS, overages.reportDue, onError))
  opening.use(repeat(HOUR_MS, overages.removeOld, onCleanupError))
  return overages
}

const CATALOGUE_ERROR = 'cannot read the prices from Stripe; pages keep those that they have'

/** Reads the prices from Stripe in the background, every day; after a failure every hour. */
export function openCatalogue({ config, plans, log, now }: Base, billing: Billing) {
  const catalogue = createCatalogue(plans.list, billing)
  let periodic: Disposable | undefined
  let freshUntil = 0
  const refresh = async () => {
    if (now() < freshUntil) return
    await catalogue.refresh()
    freshUntil = now() + DAY_MS
  }
  return {
    ...catalogue,
    start: () => {
      if (config.stripe.secretKey === undefined) return
      const onError = (error: unknown) => log.warn({ err: error }, CATALOGUE_ERROR)
      periodic = repeat(HOUR_MS, refresh, onError, 0)
    },
    [Symbol.dispose]: () => periodic?.[Symbol.dispose](),
  }
}

const UNCLAIMED = 'the user of a subscription has another Stripe customer, or no longer exists'
const UNKNOWN_PLAN = 'a user pays a Stripe price that no STRIPE_PRICE_ variable lists'

/** Compares our subscriptions with Stripe's, which repairs the effects of missed events. */
export function createReconciliation({ config, db, log, now }: Base, billing: Billing) {
  let periodic: Disposable | undefined
  let stopped = false
  const last = { endedAt: 0, succeededAt: 0 }
  const onFailure = (error: unknown, userId?: string) => {
    // When the process stops during a run, the next start runs it again.
    if (!stopped) log.error({ err: error, userId }, 'cannot compare subscriptions with Stripe')
  }
  const run = async () => {
    await billing.change([removeOldEvents(db, now())])
    if (config.stripe.secretKey === undefined) return
    let failed = 0
    try {
      await reconcile(billing, {
        now: now(),
        onFailure: (error, userId) => {
          failed += 1
          onFailure(error, userId)
        },
        onUnclaimed: (customer) => log.warn({ customer }, UNCLAIMED),
        onUnknownPlan: (userId) => log.error({ userId }, UNKNOWN_PLAN),
        isStopped: () => stopped,
      })
      if (failed === 0 && !stopped) last.succeededAt = now()
    } finally {
      last.endedAt = now()
    }
  }
  return {
    /** Runs one comparison. */
    run,
    /** When the last run and the last run without failures ended, in epoch milliseconds; 0: never. */
    last: () => last,
    /** Starts to run in the background: at once, then every hour. */
    start: () => {
      periodic = repeat(HOUR_MS, run, onFailure, 0)
    },
    [Symbol.dispose]: () => {
      stopped = true
      periodic?.[Symbol.dispose]()
    },
  }
}
