import type { Billing } from './billing.ts'
import {
  isDue,
  mayTry,
  type OverageReport,
  toReport,
  type UnreportedPeriod,
} from './overage-report.ts'
import {
  addReport,
  changeReport,
  listUnreported,
  listUnsent,
  removeOldReports,
} from './overage-store.ts'
import { sendReport } from './send-report.ts'
import { Refusal } from './stripe-calls.ts'

/** Tells the payment processor of requests over the cap, through an outbox. */
export interface Overages {
  /** Reports and sends what is due, of everybody. To be called every few seconds. */
  readonly reportDue: () => Promise<void>
  /**
   * Reports and sends all that was counted for the user until now: to be called while the invoice of
   * a period that has ended is a draft. Throws BILLING_UNAVAILABLE where that has to be tried again.
   */
  readonly reportAll: (userId: string) => Promise<void>
  /** Removes reports that nobody can ask for any more. */
  readonly removeOld: () => Promise<void>
}

export interface OveragesOptions {
  readonly billing: Billing
  /** Writes what was counted until now. */
  readonly flush: () => Promise<void>
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Told once for each report. */
  readonly onRefused: (report: OverageReport) => void
}

const RETENTION_MS = 70 * 24 * 60 * 60 * 1000
const FIRST_PAUSE_MS = 10_000
const LONGEST_PAUSE_MS = 60_000

export function createOverages(options: OveragesOptions): Overages {
  const { billing, now } = options
  const due: Scope = {
    userId: null,
    mayReport: (period) => isDue(period, now()),
    maySend: (report) => mayTry(report, now()),
  }
  let pauseMs = 0
  let pausedAt = 0
  return {
    reportDue: async () => {
      if (Math.abs(now() - pausedAt) < pauseMs) return
      try {
        await report(options, due)
        pauseMs = 0
      } catch (error) {
        pauseMs = Math.min(Math.max(2 * pauseMs, FIRST_PAUSE_MS), LONGEST_PAUSE_MS)
        pausedAt = now()
        throw error
      }
    },
    reportAll: (userId) => report(options, { userId, mayReport: () => true, maySend: () => true }),
    removeOld: () => removeOldReports(billing.db, now() - RETENTION_MS),
  }
}

interface Scope {
  /** null: of everybody. */
  readonly userId: string | null
  readonly mayReport: (period: UnreportedPeriod) => boolean
  readonly maySend: (report: OverageReport) => boolean
}

/** First what is on its way: it holds back what was counted since. */
async function report(options: OveragesOptions, { userId, mayReport, maySend }: Scope) {
  const { billing, flush, now } = options
  const { db } = billing
  await flush()
  await sendAll(options, listUnsent(db, userId).filter(maySend))
  for (const period of listUnreported(db, userId).filter(mayReport)) {
    await addReport(db, toReport(period, now()), now())
  }
  await sendAll(
    options,
    listUnsent(db, userId).filter((unsent) => mayTry(unsent, now())),
  )
}

/** What is refused holds up nobody else; where the processor does not answer, all wait. */
async function sendAll(
  { billing, now, onRefused }: OveragesOptions,
  reports: readonly OverageReport[],
): Promise<void> {
  for (const unsent of reports) {
    try {
      await sendReport(billing, unsent, now())
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      await changeReport(billing.db, unsent, { refusedAt: now() })
      if (unsent.refusedAt === null) onRefused(unsent)
    }
  }
}
