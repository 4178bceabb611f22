import type { Billing } from '../billing/billing.ts'
import { removeOldEvents } from '../billing/processor-events.ts'
import { reconcile } from '../billing/reconcile.ts'
import { type Periodic, repeat } from '../periodic.ts'
import type { Base } from './base.ts'

/** Repairs what events of the payment processor did not tell. */
export interface Reconciliation extends Disposable {
  /** One round. */
  run(): Promise<void>
  /** When the last round ended, and the last without trouble, in epoch milliseconds; 0: none. */
  last(): { readonly endedAt: number; readonly succeededAt: number }
  /** A round now, in the background, and then once an hour. */
  start(): void
}

const HOUR_MS = 60 * 60 * 1000

export function createReconciliation({ config, db, log, now }: Base, billing: Billing) {
  let periodic: Periodic | undefined
  let stopped = false
  const last = { endedAt: 0, succeededAt: 0 }
  const onFailure = (error: unknown, userId?: string) => {
    // What is cut off by the end of the process is done with the next start.
    if (!stopped) log.error({ err: error, userId }, 'cannot compare with the payment processor')
  }
  const onStranger = (customer: string) =>
    log.warn({ customer }, 'a subscription is for a user who is another customer, or is gone')
  const onUnknownPlan = (userId: string) =>
    log.error({ userId }, 'a user pays for a plan whose price is in no STRIPE_PRICE_ variable')
  const run = async () => {
    await billing.change([removeOldEvents(db, now())])
    if (config.stripe.secretKey === undefined) return
    let failed = 0
    const options = {
      now: now(),
      onFailure: (error: unknown, userId: string) => {
        failed += 1
        onFailure(error, userId)
      },
      onStranger,
      onUnknownPlan,
      isStopped: () => stopped,
    }
    try {
      await reconcile(billing, options)
      if (failed === 0 && !stopped) last.succeededAt = now()
    } finally {
      last.endedAt = now()
    }
  }
  return {
    run,
    last: () => last,
    start: () => {
      periodic = repeat(HOUR_MS, run, onFailure, 0)
    },
    [Symbol.dispose]: () => {
      stopped = true
      periodic?.[Symbol.dispose]()
    },
  } satisfies Reconciliation
}
