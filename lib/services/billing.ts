import { alignKeyExpiry } from '../access/key-expiry.ts'
import type { KeyRing } from '../access/key-ring/key-ring.ts'
import { insertAudit } from '../accounts/audit.ts'
import { type Billing, createBilling } from '../billing/billing.ts'
import { createCatalogue } from '../billing/catalogue.ts'
import { removeOldEvents } from '../billing/events/received-events.ts'
import { type Mismatch, reconcile } from '../billing/mirror/reconcile.ts'
import { createOverages, type Overages } from '../billing/overages/overages.ts'
import type { StripeFailure } from '../billing/stripe/stripe-sdk.ts'
import { createContactSender } from '../billing/subscription/contact-changes.ts'
import { settleLeftovers } from '../billing/subscription/leftovers.ts'
import type { Ledger } from '../db/ledger/ledger.ts'
import type { Meters } from '../limits/meters.ts'
import { commandText } from '../parts/clone-or-package.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../parts/durations.ts'
import type { Log } from '../parts/log/log.ts'
import { repeat } from '../parts/repeat.ts'
import type { Foundation } from './foundation.ts'

export function openBilling(
  {
    config,
    storage,
    db,
    plans,
    secrets,
    log,
    now,
    retryPolicy,
    meters,
  }: Foundation & { readonly meters: Meters },
  keys: KeyRing,
): Billing {
  return createBilling({
    db,
    plans,
    stripe: config.stripe,
    change: keys.change,
    alignKeyExpiry: (userId) => alignKeyExpiry(db, plans, now(), userId),
    auditStripe: (userId, note) =>
      insertAudit(db, { app: 'stripe', actorId: userId, createdAt: now(), ...note }),
    countRequests: async (userId, { start, end }) => {
      const paid = { start, end, interval: 'month', overages: null } as const
      const at = Math.min(now(), end - 1)
      await meters.refresh({ userId, paid }, at)
      const { requests, overage } = meters.periodCounts({ userId, paid }, at)
      return requests - overage
    },
    onFailure: (failure) => log[levelOf(failure)]({ ...failure }, 'a call to Stripe failed'),
    onDelayed: (error, message, about) =>
      log.warn({ err: error, ...about }, `${message}; repeated hourly`),
    ...(retryPolicy !== undefined && { retryPolicy }),
    secrets: async () => secrets,
    // Work that outlives its lease does no harm: what it writes is refused once another sync has ended.
    runUnderLease: (userId, work) => storage.leases.waitAndRun(`billing of ${userId}`, work),
  })
}

/**
 * Most calls that Stripe refuses are a user's mistakes, which must not alarm the operator. But a wrong
 * price is the operator's mistake.
 */
function levelOf({ type, param }: StripeFailure): 'warn' | 'error' {
  const isOfUser = type === 'StripeInvalidRequestError' && param?.includes('[price]') !== true
  return isOfUser ? 'warn' : 'error'
}

const HOURLY = { restMs: HOUR_MS }
const REPORT_INTERVAL_MS = 10 * SECOND_MS
/** How often to check whether the price must be read. */
const PRICE_INTERVAL_MS = 5 * MINUTE_MS

/** Reports requests over the cap if Stripe is configured. `start` begins to read their price. */
export function openOverages(
  { config, storage, log, now }: Foundation,
  { billing, ledger }: { readonly billing: Billing; readonly ledger: Ledger },
  opening: AsyncDisposableStack,
): Overages & { readonly start: () => void } {
  const overages = createOverages({
    billing,
    flush: () => ledger.flush(),
    flushAll: () => storage.flushes.runOnAll(() => ledger.flush()),
    now,
    onRefused: ({ identifier, userId }) =>
      log.error(
        { identifier, userId },
        'Stripe refuses an overage report, or STRIPE_PRICE_OVERAGE is unset; retried hourly',
      ),
  })
  const isOn = config.stripe.secretKey !== undefined
  const onPriceError = (error: unknown) =>
    log.error({ err: error }, 'cannot read the price of STRIPE_PRICE_OVERAGE')
  const reading = opening.use(new DisposableStack())
  const { runAlone } = storage.leases
  const refreshPrice = () => runAlone('price of overages', overages.refreshPrice)
  const start = () => {
    if (isOn) reading.use(repeat(PRICE_INTERVAL_MS, refreshPrice, onPriceError, 0))
  }
  if (!isOn) return { ...overages, start }
  const onError = (error: unknown) =>
    log.error({ err: error }, 'cannot report overages; they are kept')
  const onCleanupError = (error: unknown) =>
    log.error({ err: error }, 'cannot remove old overage reports')
  const reportDue = () => runAlone('overages', overages.reportDue)
  const removeOld = () => runAlone('overage retention', overages.removeOld, HOURLY)
  opening.use(repeat(REPORT_INTERVAL_MS, reportDue, onError))
  opening.use(repeat(HOUR_MS, removeOld, onCleanupError))
  const removeItems = () => runAlone('unused overage items', overages.removeUnusedItems, HOURLY)
  opening.use(repeat(HOUR_MS, removeItems, onError))
  return { ...overages, start }
}

/** Reads the prices from Stripe in the background, every day; after a failure every hour. */
export function openCatalogue({ config, plans, log, now }: Foundation, billing: Billing) {
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

/** Sends changed names and e-mail addresses to Stripe if it is configured. */
export function openContactSender(
  { config, storage, log }: Foundation,
  billing: Billing,
  opening: AsyncDisposableStack,
): void {
  if (config.stripe.secretKey === undefined) return
  const sendAll = createContactSender(billing, (userId) => log.warn({ userId }, REFUSED_CONTACT))
  const send = () => storage.leases.runAlone('changed names', sendAll)
  const onError = (error: unknown) =>
    log.error({ err: error }, 'cannot send changed names to Stripe')
  opening.use(repeat(MINUTE_MS, send, onError))
}

const REFUSED_CONTACT = 'Stripe refuses the changed name or e-mail address of a customer'
const CATALOGUE_ERROR = 'cannot read the prices from Stripe; pages keep the earlier ones'
/** A kind that is missing here is not logged, because the server has repaired it. */
const MESSAGES: Readonly<Partial<Record<Mismatch['kind'], string>>> = {
  'other-customer': 'the user of a subscription has another Stripe customer',
  'unknown-user': 'the user of a subscription does not exist here',
  'unknown-price':
    'users pay a Stripe price that belongs to no plan here; they keep their last known plan',
  'missing-customer':
    'Stripe does not know some customers: does STRIPE_SECRET_KEY belong to another account? They keep their plans',
  'wrong-account': `STRIPE_SECRET_KEY belongs to another Stripe account or mode than the customers here: billing is off, and they keep their plans; see ${commandText('billing')}`,
  usage: 'the meter of requests over the cap has other numbers than were sent to it',
  duplicate: `customers pay for a second subscription; ${commandText('billing')} lists them`,
}
/** With these, plans here may be outdated. */
const UNREADABLE: readonly Mismatch['kind'][] = ['missing-customer', 'wrong-account']
const ERRORS: readonly Mismatch['kind'][] = [...UNREADABLE, 'unknown-price']

/** Compares our subscriptions with Stripe's, which repairs the effects of missed events. */
export function createReconciliation(
  { config, storage, db, log, now }: Foundation,
  billing: Billing,
) {
  let periodic: Disposable | undefined
  let stopped = false
  const last = { endedAt: 0, succeededAt: 0 }
  const onFailure = (error: unknown, userId?: string) => {
    // If the process stops during a run, the next start runs it again.
    if (!stopped) log.error({ err: error, userId }, 'cannot compare subscriptions with Stripe')
  }
  const run = async (signal?: AbortSignal) => {
    await billing.change([removeOldEvents(db, now())])
    if (config.stripe.secretKey === undefined) return
    let failed = 0
    try {
      const found = await reconcile(billing, {
        now: now(),
        mode: 'repair',
        onFailure: (error, userId) => {
          failed += 1
          onFailure(error, userId)
        },
        isStopped: () => stopped || signal?.aborted === true,
      })
      const hasFailed = failed > 0 || found.some(({ kind }) => UNREADABLE.includes(kind))
      logMismatches(log, found)
      if (!hasFailed && !stopped) last.succeededAt = now()
      if (found.some(({ kind }) => kind === 'wrong-account')) return
      await settleLeftovers(billing, null, now())
    } finally {
      last.endedAt = now()
    }
  }
  return {
    /** Runs one comparison, until the signal aborts. */
    run,
    /** When the last run and the last run without failures ended, in epoch milliseconds; 0: never. */
    last: () => last,
    /** Starts to run in the background: at once, then every hour, unless another node has done so. */
    start: () => {
      const runAlone = () => storage.leases.runAlone('reconciliation', run, HOURLY)
      periodic = repeat(HOUR_MS, runAlone, onFailure, 0)
    },
    [Symbol.dispose]: () => {
      stopped = true
      periodic?.[Symbol.dispose]()
    },
  }
}

const SHOWN = 5

/** Logs a line for each kind. */
function logMismatches(log: Log, mismatches: readonly Mismatch[]): void {
  for (const [kind, found] of Map.groupBy(mismatches, (one) => one.kind)) {
    const message = MESSAGES[kind]
    if (message === undefined) continue
    const first = found.slice(0, SHOWN).map(({ user, customer, detail }) => {
      return { user, customer, detail }
    })
    log[ERRORS.includes(kind) ? 'error' : 'warn']({ kind, count: found.length, first }, message)
  }
}
