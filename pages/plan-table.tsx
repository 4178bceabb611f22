import type { Plan } from '../lib/config/plans.ts'
import { count } from './dashboard/parts/format.ts'
import { Table } from './table.tsx'

const HEADS = ['Plan', 'Price', 'Requests per month', 'Requests per minute', 'Keys', 'Sites']

/** The plans of the instance, cheapest first. */
export function PlanTable({ plans }: { readonly plans: readonly Plan[] }) {
  return (
    <section aria-labelledby="plans">
      <h2 id="plans">Plans</h2>
      <p>
        Prices are per month. Over the per-minute limit you get HTTP 429. Over the monthly limit you
        get only the country.
      </p>
      <figure class="wide" aria-labelledby="plans" tabindex={0}>
        <Table
          heads={HEADS}
          rows={plans.map((plan) => [
            plan.name,
            plan.price === 0 ? 'free' : count(plan.price),
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
