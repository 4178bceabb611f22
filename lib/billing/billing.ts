import type { Db } from '../db/open.ts'
import type { Statement } from '../db/unit.ts'
import { ApiError } from '../errors.ts'
import type { Plans } from '../plans.ts'
import type { Note } from './actor.ts'
import { allowsOverages, createPlanPrices, type PlanPrices } from './plan-prices.ts'
import { beginCalls, type StripeCalls, type StripeClient } from './stripe-calls.ts'
import type { StripeOptions, Trouble } from './stripe-client.ts'
import { createSync, type Sync } from './sync.ts'
import { createTurns, type InTurn } from './turns.ts'

/** What is sold, and the payment processor that sells it. */
export interface Billing {
  readonly db: Db
  readonly isConfigured: boolean
  readonly prices: PlanPrices
  readonly overagePrice: string | undefined
  readonly allowsOverages: (planId: string) => boolean
  /** Begins the calls of one action. Throws BILLING_NOT_CONFIGURED where nothing is sold. */
  readonly begin: () => StripeCalls
  readonly sync: Sync
  readonly inTurn: InTurn
  readonly change: Change
  /** Any of them signs events. */
  readonly webhookSecrets: readonly string[]
  /** The audit row of what the payment processor told of a user. */
  readonly auditTold: AuditTold
}

type AuditTold = (userId: string, note: Note) => Statement

/** Runs statements in one transaction, after which the next request meets what they changed. */
type Change = (statements: [Statement, ...Statement[]]) => Promise<boolean>

export interface BillingOptions {
  readonly db: Db
  readonly plans: Plans
  readonly stripe: {
    readonly secretKey: string | undefined
    readonly apiBase: string | undefined
    readonly prices: Readonly<Record<string, readonly string[]>>
    readonly overagePrice: string | undefined
    readonly webhookSecrets: readonly string[]
  }
  readonly change: Change
  readonly auditTold: AuditTold
  readonly onTrouble: (trouble: Trouble) => void
  /** How long an action may wait for the payment processor; nine seconds unless told. */
  readonly timeLimitMs?: number
}

export function createBilling(options: BillingOptions): Billing {
  const { db, plans, stripe, change, auditTold, onTrouble, timeLimitMs } = options
  const { secretKey, apiBase, overagePrice, webhookSecrets } = stripe
  const catalogue = {
    prices: createPlanPrices(plans, stripe.prices),
    overagePrice,
    allowsOverages: (planId: string) => {
      const plan = plans.find(planId)
      return plan !== undefined && allowsOverages(plan, plans)
    },
  }
  let loading: Promise<StripeClient> | undefined
  const begin = () => {
    if (secretKey === undefined) throw notConfigured()
    return beginCalls(() => {
      loading ??= load({ secretKey, apiBase, onTrouble })
      return loading
    }, timeLimitMs)
  }
  const sync = createSync({ db, catalogue, change })
  const inTurn = createTurns()
  const isConfigured = secretKey !== undefined
  return { ...catalogue, isConfigured, db, begin, sync, inTurn, change, webhookSecrets, auditTold }
}

async function load(options: StripeOptions): Promise<StripeClient> {
  const { createStripe } = await import('./stripe-client.ts')
  return createStripe(options)
}

export function notConfigured(): ApiError {
  return new ApiError('BILLING_NOT_CONFIGURED', 'Nothing is sold here')
}
