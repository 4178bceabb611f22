import type { Caller } from '../../../lib/access/authenticate.ts'
import { getOverages, setSpendingCap } from '../../../lib/billing/overages/spending-cap.ts'
import type { SubscriptionRow } from '../../../lib/billing/subscription/subscriptions.ts'
import {
  amountOf,
  largestSpendingCap,
  type OverageTerms,
} from '../../../lib/config/overage-terms.ts'
import type { Overages } from '../../../lib/contract/billing/overages.ts'
import { thresholdsReached } from '../../../lib/limits/user-period.ts'
import type { Services } from '../../../lib/services/services.ts'
import type { Handlers } from '../../context.ts'
import { toActor } from './actor.ts'

interface Found {
  readonly row: SubscriptionRow
  readonly terms: OverageTerms
}

export function overageHandlers({
  billing,
  db,
  meters,
}: Pick<Services, 'billing' | 'db' | 'meters'>) {
  const readBody = async (
    caller: Caller,
    { row, terms }: Found,
    now: number,
  ): Promise<Overages> => {
    await meters.refresh(caller, now)
    const { userId, plan } = caller
    const cap = plan.monthlyCap
    const { currency, unitAmount, spendingCap, maxUnits } = terms
    const { requests, overage: units } = meters.periodCounts(caller, now)
    const spending = row.overages ? terms : null
    const usage = { userId, requests, overage: units, cap, spending }
    return {
      overagesEnabled: row.overages,
      cap,
      currency,
      unitPrice: unitAmount,
      spendingCap,
      largestSpendingCap: largestSpendingCap(plan, currency),
      units,
      maxUnits: Number.isFinite(maxUnits) ? maxUnits : null,
      amount: amountOf(terms, units),
      thresholds: thresholdsReached(usage),
    }
  }
  return {
    getOverages: async ({ caller, now }) => {
      const found = await getOverages(billing, caller.userId, caller.plan)
      return { status: 200, body: await readBody(caller, found, now) }
    },
    setSpendingCap: async ({ caller, body, now }) => {
      const actor = toActor(db, caller, now)
      const found = await setSpendingCap(billing, actor, caller.plan, body.spendingCap)
      return { status: 200, body: await readBody(caller, found, now) }
    },
  } satisfies Partial<Handlers>
}
