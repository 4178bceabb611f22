import { moneyText } from '../../../lib/config/money.ts'
import type { UsageStats } from '../../../lib/contract/account/account-schemas.ts'
import type { Plan } from '../../../lib/contract/billing/billing-schemas.ts'
import type { Overages } from '../../../lib/contract/billing/overages.ts'
import { PostButton } from '../parts/form.tsx'
import { count } from '../parts/format.ts'

interface OveragesCardProps {
  readonly base: string
  readonly plan: Plan
  readonly usage: UsageStats
  /** null if the plan has no overages, or their price is not known. */
  readonly overages: Overages | null
  readonly isOn: boolean
}

/** What requests over the cap cost so far. Not shown for plans that have no overages. */
export function OveragesCard({ base, plan, usage, overages, isOn }: OveragesCardProps) {
  if (overages === null && !isOn) return null
  const cap = overages?.cap ?? usage.monthlyCap ?? plan.monthlyCap
  return (
    <section class="card" aria-labelledby="overages">
      <div class="item-head">
        <h2 id="overages">Overages</h2>
        <span class={isOn ? 'badge good' : 'badge'}>{isOn ? 'On' : 'Off'}</span>
      </div>
      <p>
        You have used {count(usage.totalRequests)} of {count(cap)} requests in this period.{' '}
        {isOn ? <Charged overages={overages} /> : 'Over the cap, look-ups return only the country.'}
      </p>
      {overages === null ? (
        <StopOverages base={base} />
      ) : (
        <p>
          <a class="button quiet" href={`${base}/app/billing/overages`}>
            {isOn ? 'Spending cap and settings' : 'Allow overages for a fee…'}
          </a>
        </p>
      )}
    </section>
  )
}

function Charged({ overages }: { readonly overages: Overages | null }) {
  if (overages === null) return 'The price of further requests is not known at the moment.'
  const { units, amount, spendingCap, currency } = overages
  return (
    <>
      {count(units)} of them are charged: {moneyText(amount, currency)} so far, at most{' '}
      {moneyText(spendingCap, currency)}.
    </>
  )
}

export function StopOverages({ base }: { readonly base: string }) {
  return (
    <PostButton
      action={`${base}/app/billing/overages`}
      field={{ name: 'overages', value: 'off' }}
      text="Stop overages"
      kind="quiet"
    />
  )
}
