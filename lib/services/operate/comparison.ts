import type { Billing } from '../../billing/billing.ts'
import { inspect, type Mismatch } from '../../billing/mirror/inspect.ts'
import { type RepairOptions, repair } from '../../billing/mirror/repair.ts'
import type { Log } from '../../parts/log/log.ts'
import { createJob, type Job } from './job.ts'

/** What a comparison repairs: the mismatches that `wants` accepts. */
export interface Repairing extends RepairOptions {
  readonly wants: (mismatch: Mismatch) => boolean
}

export interface Comparison {
  /** Where the database and Stripe disagree, after the repairs. */
  readonly mismatches: readonly Mismatch[]
  /** How many were repaired. */
  readonly repaired: number
}

/**
 * Compares the database with Stripe, as `npm run billing` does. Asks Stripe about every customer, so it
 * may take long. A repair starts from a new comparison, because things may have changed since the last.
 */
export function createComparison(
  billing: Billing,
  log: Log,
  now: () => number,
): Job<Comparison, Repairing | null> {
  const compare = async (repairing: Repairing | null): Promise<Comparison> => {
    const found = await inspect(billing)
    if (repairing === null) return { mismatches: found, repaired: 0 }
    const repaired = await repair(billing, found.filter(repairing.wants), repairing)
    const mismatches = repaired.length === 0 ? found : await inspect(billing)
    return { mismatches, repaired: repaired.length }
  }
  return createJob(async (repairing: Repairing | null) => {
    try {
      return await compare(repairing)
    } catch (error) {
      log.error({ err: error }, 'a comparison that an operator started has failed')
      throw error
    }
  }, now)
}
