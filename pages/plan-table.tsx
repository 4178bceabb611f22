import type { Plan } from '../lib/config/plans.ts'
import type { PlanPrices } from '../lib/contract/billing/price-schemas.ts'
import { count, counted } from './dashboard/parts/format.ts'
import { priceTexts } from './price-text.ts'
import { Table } from './table.tsx'

const HEADS = ['Plan', 'Price', 'Requests per month', 'Requests per minute', 'Keys', 'Sites']

export interface PlanTableProps {
  /** The plans of the instance, cheapest first. */
  readonly plans: readonly Plan[]
  readonly prices: readonly PlanPrices[]
}

export function PlanTable({ plans, prices }: PlanTableProps) {
  return (
    <section aria-labelledby="plans">
      <h2 id="plans">Plans</h2>
      <p>
        Over the per-minute limit you get HTTP 429. Over the monthly limit you get only the country.
      </p>
      <figure class="wide" aria-labelledby="plans" tabindex={0}>
        <Table
          heads={HEADS}
          rows={plans.map((plan) => [
            plan.name,
            priceCell(
              plan,
              prices.find(({ planId }) => planId === plan.id),
            ),
            count(plan.monthlyCap),
            count(plan.requestsPerMinute),
            count(plan.maxKeys),
            count(plan.maxSites),
          ])}
        />
      </figure>
    </section>
  )
}

function priceCell(plan: Plan, offer: PlanPrices | undefined): string {
  const trial = offer?.trialDays
  const texts = priceTexts(plan, offer).join(', ')
  return trial === undefined ? texts : `${texts}, ${counted(trial, 'day', 'days')} free`
}
