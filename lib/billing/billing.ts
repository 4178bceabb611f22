import type { StripeConfig } from '../config/config.ts'
import type { Plans } from '../config/plans.ts'
import type { AuditNote } from '../contract/account/audit-actions.ts'
import type { Db } from '../db/open.ts'
import type { Statement } from '../db/transaction.ts'
import { ApiError } from '../errors.ts'
import { once } from '../once.ts'
import { createPlanPrices } from './plan-prices.ts'
import { openGateway } from './stripe/gateway.ts'
import type { StripeFailure, StripeOptions } from './stripe/stripe-sdk.ts'

/** Everything that selling plans needs. */
export type Billing = ReturnType<typeof createBilling>

export interface BillingOptions {
  readonly db: Db
  readonly plans: Plans
  readonly stripe: StripeConfig
  /** Runs the statements in one transaction. The next request sees their changes. */
  readonly change: (statements: [Statement, ...Statement[]]) => Promise<boolean>
  /** Fits the expiry of the user's keys to the plan in effect. */
  readonly fitKeys: (userId: string) => Statement
  /** The audit row of a change that Stripe reported. */
  readonly auditStripe: (userId: string, note: AuditNote) => Statement
  readonly onFailure: (failure: StripeFailure) => void
  /** How long an action may wait for Stripe; nine seconds by default. */
  readonly timeLimitMs?: number
}

/** The user who makes a change. */
export interface Actor {
  readonly userId: string
  /** Epoch milliseconds. */
  readonly now: number
  readonly audit: (note: AuditNote) => Statement
}

export function createBilling(options: BillingOptions) {
  const { db, plans, stripe, change, fitKeys, auditStripe, onFailure, timeLimitMs } = options
  const { secretKey, apiBase, overagePrice, webhookSecrets } = stripe
  const load =
    secretKey === undefined ? null : once(() => loadStripe({ secretKey, apiBase, onFailure }))
  const loadEvents = once(() => import('./stripe/events.ts'))
  return {
    db,
    isConfigured: load !== null,
    /** Loads the reader of Stripe's events. */
    loadEvents,
    /** Call these at the start, so that no request waits for the SDK to load. */
    loads: load === null ? [] : [load, loadEvents],
    prices: createPlanPrices(plans, stripe.prices),
    overagePrice,
    tax: stripe.tax,
    /** Opens Stripe for one action, with its own time limit. Throws BILLING_NOT_CONFIGURED. */
    openStripe: () => {
      if (load === null) throw notConfigured()
      return openGateway(load, timeLimitMs)
    },
    enqueue: createUserQueue(),
    change,
    fitKeys,
    /** An event may be signed with any of them. */
    webhookSecrets,
    auditStripe,
  }
}

async function loadStripe(options: StripeOptions) {
  const { createStripe } = await import('./stripe/stripe-sdk.ts')
  return createStripe(options)
}

export function notConfigured(): ApiError {
  return new ApiError('BILLING_NOT_CONFIGURED', 'Billing is not configured')
}

/** Runs the tasks of each user one after the other, so that they do not change each other's data. */
function createUserQueue() {
  const last = new Map<string, Promise<unknown>>()
  return <Result>(userId: string, work: () => Promise<Result>): Promise<Result> => {
    const before = last.get(userId) ?? Promise.resolve()
    const mine = before.then(work, work)
    const leave = () => {
      if (last.get(userId) === mine) last.delete(userId)
    }
    last.set(userId, mine)
    void mine.then(leave, leave)
    return mine
  }
}
