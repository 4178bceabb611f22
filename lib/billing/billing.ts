import type { StripeConfig } from '../config/config.ts'
import type { BillingPeriod } from '../config/period.ts'
import type { Plans } from '../config/plans.ts'
import { deriveSecret, type Secrets } from '../config/secrets.ts'
import type { AuditNote } from '../contract/account/audit-actions.ts'
import type { Db } from '../db/open.ts'
import type { Statement } from '../db/transaction.ts'
import { BoundedCache } from '../parts/bounded-cache.ts'
import { ApiError } from '../parts/errors.ts'
import { once } from '../parts/once.ts'
import { createQueues } from '../parts/task-queue.ts'
import {
  findStripeAccount,
  isSameStripeAccount,
  type StripeAccount,
  WrongStripeAccount,
} from './mirror/stripe-account.ts'
import { createPlanPrices } from './plan-prices.ts'
import { beginCalls, type RetryPolicy } from './stripe/stripe-calls.ts'
import { BillingUnavailable } from './stripe/stripe-refusal.ts'
import type { StripeFailure, StripeOptions } from './stripe/stripe-sdk.ts'

/** Users who had a refresh in the last seconds. */
const MAX_REFRESHES = 10_000
/** Tasks of one user: more than requests and events can bring within the time limit of an action. */
const MAX_WAITING = 1_000

/** Everything that selling plans needs. */
export type Billing = ReturnType<typeof createBilling>

export interface BillingOptions {
  readonly db: Db
  readonly plans: Plans
  readonly stripe: StripeConfig
  /** Runs the statements in one transaction. The next request sees their changes. */
  readonly change: (statements: [Statement, ...Statement[]]) => Promise<boolean>
  /** Adjusts the expiry of the user's keys to the plan in effect. */
  readonly alignKeyExpiry: (userId: string) => Statement
  /** The audit row of a change that Stripe reported. */
  readonly auditStripe: (userId: string, note: AuditNote) => Statement
  /** Counts the user's requests in the period, without those charged as overages. */
  readonly countRequests: (userId: string, period: BillingPeriod) => Promise<number>
  readonly onFailure: (failure: StripeFailure) => void
  /** Called for a step that failed, but that the hourly run repeats; by default nothing happens. */
  readonly onDelayed?: (
    error: unknown,
    message: string,
    about: { readonly userId?: string; readonly subscription?: string },
  ) => void
  /** How long an action tries to reach Stripe; by default nine seconds. */
  readonly retryPolicy?: RetryPolicy
  /** Of the server: trials are remembered by keyed hashes of addresses. */
  readonly secrets: () => Promise<Secrets>
  /** Runs `work` when no other process works for the user; by default at once. */
  readonly runUnderLease?: RunForUser
}

type RunForUser = <Result>(userId: string, work: () => Promise<Result>) => Promise<Result>

/** The user who makes a change. */
export interface Actor {
  readonly userId: string
  /** Epoch milliseconds. */
  readonly now: number
  readonly audit: (note: AuditNote) => Statement
}

export function createBilling({
  stripe,
  onFailure,
  onDelayed = () => {},
  retryPolicy,
  secrets,
  runUnderLease = (_userId, work) => work(),
  ...options
}: BillingOptions) {
  const { db, plans } = options
  const { secretKey, apiBase, overagePrice, webhookSecrets, tax } = stripe
  const mode = modeOf(secretKey ?? '')
  const load =
    secretKey === undefined ? null : once(() => loadStripe({ secretKey, apiBase, onFailure }))
  const loadEvents = once(() => import('./stripe/events.ts'))
  const readStripeAccount = once(async (): Promise<StripeAccount> => {
    if (load === null) throw notConfigured()
    return { account: await (await load()).readAccount(), mode }
  })
  const requireStripeAccount = async () => {
    const expected = await findStripeAccount(db)
    if (expected === null) return
    const found = await readStripeAccount()
    if (!isSameStripeAccount(expected, found)) throw new WrongStripeAccount(expected, found)
  }
  return {
    ...options,
    isConfigured: load !== null,
    /** Loads the reader of Stripe's events. */
    loadEvents,
    /** Call these at the start, so that no request waits for the SDK to load. */
    loads: load === null ? [] : [load, loadEvents],
    prices: createPlanPrices(plans, stripe.prices),
    overagePrice,
    /** The key of the hashes by which trials are remembered. */
    addressKey: once(async () => deriveSecret(await secrets(), 'trials')),
    tax,
    mode,
    /** An event signed with any of them is valid. */
    webhookSecrets,
    /** The account and mode of the key. */
    readStripeAccount,
    /** Throws WrongStripeAccount if we know that our customers belong to another account or mode. */
    requireStripeAccount,
    /**
     * Opens Stripe for one action, with its own time limit. Throws BILLING_NOT_CONFIGURED. Its calls throw
     * WrongStripeAccount before they reach the wrong account.
     */
    openStripe: () => {
      if (load === null) throw notConfigured()
      return beginCalls(async () => {
        await requireStripeAccount()
        return load()
      }, retryPolicy)
    },
    enqueue: createUserQueues(runUnderLease),
    /** When users last had a refresh. */
    refreshedAt: new BoundedCache<string, number>(MAX_REFRESHES),
    onDelayed,
  }
}

function modeOf(secretKey: string): StripeAccount['mode'] {
  return /^[a-z]+_live_/.test(secretKey) ? 'live' : 'test'
}

async function loadStripe(options: StripeOptions) {
  const { createStripe } = await import('./stripe/stripe-sdk.ts')
  return createStripe(options)
}

export function notConfigured(message = 'Billing is not configured'): ApiError {
  return new ApiError('BILLING_NOT_CONFIGURED', message)
}

/** Runs the tasks of each user one after the other, so that they do not change each other's data. */
function createUserQueues(runUnderLease: RunForUser): RunForUser {
  const queues = createQueues({ atOnce: 1, mayWait: MAX_WAITING })
  return async (userId, work) => {
    const done = await queues.run(userId, async () => [await runUnderLease(userId, work)] as const)
    if (done === null) throw new BillingUnavailable()
    return done[0]
  }
}
