import type { Plan } from '../../../lib/contract/billing/billing-schemas.ts'
import { PostButton } from '../parts/form.tsx'
import { count, counted } from '../parts/format.ts'

interface PlanChoiceProps {
  readonly base: string
  /** Cheapest first. */
  readonly plans: readonly Plan[]
  /** The plan that applies now. */
  readonly current: Plan
  readonly isSubscribed: boolean
}

/** The plans side by side, each with a button to choose it. */
export function PlanChoice({ base, plans, current, isSubscribed }: PlanChoiceProps) {
  return (
    <section class="plans" aria-labelledby="plans">
      <h2 id="plans">Plans</h2>
      <ul class="tiles">
        {plans.map((plan) => (
          <li class={plan.id === current.id ? 'card current' : 'card'}>
            <h3>{plan.name}</h3>
            <p class="figure">
              {plan.price === 0 ? 'Free' : count(plan.price)}
              {plan.price > 0 && <span class="soft per"> per month</span>}
            </p>
            <ul class="plain">
              <li>{counted(plan.monthlyCap, 'request', 'requests')} per month</li>
              <li>{counted(plan.maxKeys, 'key', 'keys')}</li>
              <li>{counted(plan.maxSites, 'site', 'sites')}</li>
            </ul>
            <PlanAction base={base} plan={plan} current={current} isSubscribed={isSubscribed} />
          </li>
        ))}
      </ul>
    </section>
  )
}

interface PlanActionProps extends Pick<PlanChoiceProps, 'base' | 'current' | 'isSubscribed'> {
  readonly plan: Plan
}

function PlanAction({ base, plan, current, isSubscribed }: PlanActionProps) {
  if (plan.id === current.id) return <p class="soft">Current plan</p>
  if (plan.stripePriceId === null) return <p class="soft">{plan.price > 0 && 'Not available'}</p>
  if (isSubscribed) {
    const query = new URLSearchParams({ plan: plan.id })
    return (
      <p>
        <a class="button quiet" href={`${base}/app/billing/change?${query}`}>
          Change to {plan.name}
        </a>
      </p>
    )
  }
  return (
    <PostButton
      action={`${base}/app/billing/checkout`}
      field={{ name: 'plan', value: plan.id }}
      text={`Subscribe to ${plan.name}`}
    />
  )
}
