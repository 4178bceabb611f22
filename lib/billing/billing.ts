import type { StripeConfig } from '../config/config.ts'
import type { BillingPeriod } from '../config/period.ts'
import type { Plans } from '../config/plans.ts'
import { deriveSecret, type Secrets } from '../config/secrets.ts'
import type { AuditNote } from '../contract/account/audit-actions.ts'
import type { Db } from '../db/open.ts'
import type { Statement } from '../db/transaction.ts'
import { SECOND_MS } from '../parts/durations.ts'
import { ApiError } from '../parts/errors.ts'
import { once } from '../parts/once.ts'
import {
  findStripeAccount,
  isSameStripeAccount,
  type StripeAccount,
  WrongStripeAccount,
} from './mirror/stripe-account.ts'
import { createPlanPrices } from './plan-prices.ts'
import { beginCalls, type RetryPolicy } from './stripe/stripe-calls.ts'
import type { StripeFailure, StripeOptions } from './stripe/stripe-sdk.ts'

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

export function createBilling(options: BillingOptions) {
  const { db, plans, stripe, change, alignKeyExpiry, auditStripe, countRequests } = options
  const { onFailure, onDelayed = () => {}, retryPolicy, secrets, runUnderLease } = options
  const { secretKey, apiBase, overagePrice, webhookSecrets } = stripe
  const load =
    secretKey === undefined ? null : once(() => loadStripe({ secretKey, apiBase, onFailure }))
  const loadEvents = once(() => import('./stripe/events.ts'))
  const readStripeAccount = once(async (): Promise<StripeAccount> => {
    if (load === null) throw notConfigured()
    const account = await (await load()).readAccount()
    return { account, mode: modeOf(secretKey ?? '') }
  })
  const requireStripeAccount = async () => {
    const expected = await findStripeAccount(db)
    if (expected === null) return
    const found = await readStripeAccount()
    if (!isSameStripeAccount(expected, found)) throw new WrongStripeAccount(expected, found)
  }
  return {
    db,
    isConfigured: load !== null,
    /** Loads the reader of Stripe's events. */
    loadEvents,
    /** Call these at the start, so that no request waits for the SDK to load. */
    loads: load === null ? [] : [load, loadEvents],
    plans,
    prices: createPlanPrices(plans, stripe.prices),
    overagePrice,
    countRequests,
    /** The key of the hashes by which trials are remembered. */
    addressKey: once(async () => deriveSecret(await secrets(), 'trials')),
    tax: stripe.tax,
    mode: modeOf(secretKey ?? ''),
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
    enqueue: createUserQueue(runUnderLease),
    refreshes: createRefreshes(),
    change,
    alignKeyExpiry,
    /** An event signed with any of them is valid. */
    webhookSecrets,
    auditStripe,
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
function createUserQueue(runUnderLease: RunForUser = (_userId, work) => work()): RunForUser {
  const last = new Map<string, Promise<unknown>>()
  return (userId, work) => {
    const before = last.get(userId) ?? Promise.resolve()
    const begin = () => runUnderLease(userId, work)
    const mine = before.then(begin, begin)
    const leave = () => {
      if (last.get(userId) === mine) last.delete(userId)
    }
    last.set(userId, mine)
    void mine.then(leave, leave)
    return mine
  }
}

const REFRESH_INTERVAL_MS = 3 * SECOND_MS

/** Remembers which users had a refresh in the last three seconds. */
function createRefreshes() {
  /** The times of the latest refreshes by user, oldest first. */
  const times = new Map<string, number>()
  return {
    /** Returns whether the user may have a refresh now, and remembers it. */
    begin(userId: string, now: number): boolean {
      for (const [user, at] of times) {
        if (Math.abs(now - at) < REFRESH_INTERVAL_MS) break
        times.delete(user)
      }
      if (times.has(userId)) return false
      times.set(userId, now)
      return true
    },
  }
}
