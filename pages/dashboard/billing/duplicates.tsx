import type {
  DuplicateSubscription,
  Plan,
  SubscriptionResponse,
} from '../../../lib/contract/billing/billing-schemas.ts'
import { PostButton } from '../parts/form.tsx'
import { Time } from '../parts/time.tsx'

interface DuplicatesProps {
  readonly base: string
  /** The plan in effect. */
  readonly plan: Plan
  readonly plans: readonly Plan[]
  readonly subscription: NonNullable<SubscriptionResponse['subscription']>
  readonly duplicates: readonly DuplicateSubscription[]
}

/** Warns that the user pays for several subscriptions, although only one sets the plan. */
export function Duplicates({ base, plan, plans, subscription, duplicates }: DuplicatesProps) {
  if (duplicates.length === 0) return null
  return (
    <section class="card" aria-labelledby="duplicates">
      <h2 id="duplicates">You pay twice</h2>
      <p>
        Your plan {plan.name} comes from the subscription <code>{subscription.id}</code>. You are
        also charged for:
      </p>
      <ul>
        {duplicates.map(({ id, planId, currentPeriodEnd }) => (
          <li>
            {plans.find(({ id: plan }) => plan === planId)?.name ?? planId}, subscription{' '}
            <code>{id}</code>, paid until <Time at={currentPeriodEnd} precision="day" />
          </li>
        ))}
      </ul>
      <PostButton
        action={`${base}/app/billing/duplicates/end`}
        text="End the other subscriptions and credit the unused time"
      />
    </section>
  )
}
