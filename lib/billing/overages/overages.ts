import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../parts/durations.ts'
import type { Billing } from '../billing.ts'
import { StripeDenial, StripeRefusal } from '../stripe/stripe-refusal.ts'
import { refreshOveragePrice } from './overage-price.ts'
import { isDue, mayTry, toReport } from './overage-report.ts'
import {
  addReport,
  changeReport,
  listUnreported,
  listUnsent,
  type OverageReport,
  removeOldReports,
} from './overage-store.ts'
import { removeUnusedItem, removeUnusedItems } from './remove-items.ts'
import { sendReport } from './send-report.ts'

/** Reports requests over the cap to Stripe, through an outbox. */
export type Overages = ReturnType<typeof createOverages>

export interface OveragesOptions {
  readonly billing: Billing
  /** Writes the counters to the database. */
  readonly flush: () => Promise<void>
  /** Also waits until all other processes have written theirs; not needed if there are none. */
  readonly flushAll?: () => Promise<void>
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Called once for each refused report. */
  readonly onRefused: (report: OverageReport) => void
}

const RETENTION_MS = 70 * DAY_MS
const FIRST_PAUSE_MS = 10 * SECOND_MS
const LONGEST_PAUSE_MS = MINUTE_MS

export function createOverages(options: OveragesOptions) {
  const { billing, now } = options
  const reportAll = (userId: string) => report(options, userId)
  const removal = { billing, now, reportAll }
  let pauseMs = 0
  let pausedAt = 0
  return {
    /** Reports and sends what is due for all users. Call it every few seconds. */
    reportDue: async () => {
      if (Math.abs(now() - pausedAt) < pauseMs) return
      try {
        await report(options, null)
        pauseMs = 0
      } catch (error) {
        pauseMs = Math.min(Math.max(2 * pauseMs, FIRST_PAUSE_MS), LONGEST_PAUSE_MS)
        pausedAt = now()
        throw error
      }
    },
    /**
     * Reports and sends everything counted for the user so far. Call it while the invoice of a period
     * that has ended is a draft. Throws BILLING_UNAVAILABLE if it must be called again.
     */
    reportAll,
    /** Removes the item of a user who has turned overages off, if Stripe has all units. */
    removeUnusedItem: (userId: string) => removeUnusedItem(removal, userId),
    /** Does the same for all users. Call it every hour. */
    removeUnusedItems: () => removeUnusedItems(removal),
    /** Reads the price from Stripe, at most once a day. */
    refreshPrice: () => refreshOveragePrice(billing, now()),
    /** Removes reports that no invoice can need any more. */
    removeOld: () => removeOldReports(billing.db, now() - RETENTION_MS),
  }
}

/**
 * Reports and sends what is due for all users (null), or everything for one user. Sends unsent reports
 * first: a period gets no new report until its last one has arrived.
 */
async function report(options: OveragesOptions, userId: string | null): Promise<void> {
  const { billing, flush, flushAll = flush, now } = options
  const { db } = billing
  const isForAll = userId === null
  // The invoice of one user may be about to be closed. Units of all others are reported again soon.
  await (isForAll ? flush() : flushAll())
  const unsent = await listUnsent(db, userId)
  await sendAll(options, isForAll ? unsent.filter((one) => mayTry(one, now())) : unsent)
  const periods = await listUnreported(db, userId)
  for (const period of isForAll ? periods.filter((one) => isDue(one, now())) : periods) {
    await addReport(db, toReport(period, now()), now())
  }
  const rest = (await listUnsent(db, userId)).filter((one) => mayTry(one, now()))
  await sendAll(options, rest)
}

/** A refused report does not hold up the others. If Stripe does not answer, all reports wait. */
async function sendAll(
  { billing, now, onRefused }: OveragesOptions,
  reports: readonly OverageReport[],
): Promise<void> {
  for (const unsent of reports) {
    try {
      await sendReport(billing, unsent, now())
    } catch (error) {
      if (!(error instanceof StripeRefusal || error instanceof StripeDenial)) throw error
      await changeReport(billing.db, unsent, { refusedAt: now() })
      if (unsent.refusedAt === null) onRefused(unsent)
    }
  }
}
