import type { Plan, ProrationPreview } from '../../lib/contract/billing-schemas.ts'
import { BillingTabs } from './billing-tabs.tsx'
import { money } from './words.ts'

interface PlanChangeProps {
  readonly base: string
  readonly from: Plan
  readonly to: Plan
  readonly preview: ProrationPreview
}

/** What a change of plan charges, before it is made. */
export function PlanChange({ base, from, to, preview }: PlanChangeProps) {
  const { amountDue, currency, lines } = preview
  return (
    <>
      <BillingTabs base={base} at="plan" />
      <section class="card" aria-labelledby="change">
        <h2 id="change">
          From {from.name} to {to.name}
        </h2>
        <div class="wide">
          <table>
            <thead>
              <tr>
                <th scope="col">For</th>
                <th scope="col">Amount</th>
              </tr>
            </thead>
            <tbody>
              {lines.map(({ description, amount }) => (
                <tr>
                  <th scope="row">{description ?? 'Other'}</th>
                  <td>{money(amount, currency)}</td>
                </tr>
              ))}
              <tr class="total">
                <th scope="row">Charged now</th>
                <td>{money(amountDue, currency)}</td>
              </tr>
            </tbody>
          </table>
        </div>
        <p class="soft">
          This amount holds for an hour. A credit stays with you, and pays the next invoices.
        </p>
        <div class="actions">
          <form method="post" action={`${base}/app/billing/change`}>
            <input type="hidden" name="plan" value={to.id} />
            <button type="submit">
              {amountDue > 0 ? `Change and pay ${money(amountDue, currency)}` : 'Change the plan'}
            </button>
          </form>
          <a class="button quiet" href={`${base}/app/billing`}>
            Keep {from.name}
          </a>
        </div>
      </section>
    </>
  )
}
