import type { Plan } from '../lib/plans.ts'

const COUNT = new Intl.NumberFormat('en')

/** The plans of the instance, cheapest first. */
export function PlanTable({ plans }: { readonly plans: readonly Plan[] }) {
  return (
    <section aria-labelledby="plans">
      <h2 id="plans">Plans</h2>
      <p>
        Prices are per month. Above the requests of a minute the answer is 429; above those of a
        month look-ups answer with the country alone.
      </p>
      <figure class="wide" aria-labelledby="plans" tabindex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Plan</th>
              <th scope="col">Price</th>
              <th scope="col">Requests per month</th>
              <th scope="col">Requests per minute</th>
              <th scope="col">Keys</th>
              <th scope="col">Sites</th>
            </tr>
          </thead>
          <tbody>
            {plans.map((plan) => (
              <tr>
                <th scope="row">{plan.name}</th>
                <td>{plan.price === 0 ? 'free' : COUNT.format(plan.price)}</td>
                <td>{COUNT.format(plan.monthlyCap)}</td>
                <td>{COUNT.format(plan.requestsPerMinute)}</td>
                <td>{COUNT.format(plan.maxKeys)}</td>
                <td>{COUNT.format(plan.maxSites)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </figure>
    </section>
  )
}
