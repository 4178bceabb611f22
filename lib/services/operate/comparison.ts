import type { Billing } from '../../billing/billing.ts'
import { type Mismatch, REPAIRABLE, reconcile } from '../../billing/mirror/reconcile.ts'
import type { Log } from '../../parts/log/log.ts'
import { createJob, type Job } from './job.ts'

type Mode = 'compare' | 'repair'

export interface Comparison {
  /** Where the database and Stripe disagree, after the repairs. */
  readonly mismatches: readonly Mismatch[]
  /** How many were repaired. */
  readonly repaired: number
}

/**
 * Compares the database with Stripe, as `npm run billing` does. Asks Stripe about every customer, so it
 * may take long.
 */
export function createComparison(
  billing: Billing,
  log: Log,
  now: () => number,
): Job<Comparison, Mode> {
  const onFailure = (error: unknown) => {
    throw error
  }
  return createJob(async (mode: Mode) => {
    try {
      const found = await reconcile(billing, { now: now(), mode, onFailure })
      const isLeft = ({ kind }: Mismatch) => mode === 'compare' || !REPAIRABLE.includes(kind)
      const mismatches = found.filter(isLeft)
      return { mismatches, repaired: found.length - mismatches.length }
    } catch (error) {
      log.error({ err: error }, 'a comparison that an operator started has failed')
      throw error
    }
  }, now)
}
