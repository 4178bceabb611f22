import type { Plan } from '../../lib/contract/billing-schemas.ts'
import { count, counted } from './words.ts'

interface PlanChoiceProps {
  readonly base: string
  /** Cheapest first. */
  readonly plans: readonly Plan[]
  /** In effect. */
  readonly current: Plan
  readonly isSubscribed: boolean
}

/** The plans side by side, each with the way to it. */
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
              <li>{counted(plan.monthlyCap, 'request', 'requests')} a month</li>
              <li>{counted(plan.maxKeys, 'key', 'keys')}</li>
              <li>{counted(plan.maxSites, 'site', 'sites')}</li>
            </ul>
            <WayTo base={base} plan={plan} current={current} isSubscribed={isSubscribed} />
          </li>
        ))}
      </ul>
    </section>
  )
}

interface WayToProps extends Pick<PlanChoiceProps, 'base' | 'current' | 'isSubscribed'> {
  readonly plan: Plan
}

function WayTo({ base, plan, current, isSubscribed }: WayToProps) {
  if (plan.id === current.id) return <p class="soft">In effect</p>
  if (plan.stripePriceId === null)
    return <p class="soft">{plan.price > 0 && 'Not for sale here'}</p>
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
    <form method="post" action={`${base}/app/billing/checkout`}>
      <input type="hidden" name="plan" value={plan.id} />
      <button type="submit">Subscribe to {plan.name}</button>
    </form>
  )
}
