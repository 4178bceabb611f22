import type { UsageStats } from '../../lib/contract/account-schemas.ts'
import type { Plan, SubscriptionResponse } from '../../lib/contract/billing-schemas.ts'
import { BillingTabs } from './billing-tabs.tsx'
import { Notice } from './notice.tsx'
import { PlanChoice } from './plan-choice.tsx'
import { Time } from './time.tsx'
import { count } from './words.ts'

type Subscription = NonNullable<SubscriptionResponse['subscription']>

export interface BillingProps {
  readonly base: string
  /** In effect. */
  readonly plan: Plan
  readonly subscription: Subscription | null
  readonly plans: readonly Plan[]
  readonly usage: UsageStats
  /** What has just been done, as the address says. */
  readonly done?: string | undefined
  readonly trouble?: string
}

const DONE: Readonly<Record<string, string>> = {
  changed: 'The plan is changed, and in effect from now on.',
  cancelled: 'The subscription is cancelled. It stays in effect until the end of the period.',
  kept: 'The subscription goes on.',
  'overages-on': 'Requests above the cap are now answered in full, and charged.',
  'overages-off': 'Requests above the cap are reduced from now on, and cost nothing.',
}

/** As Stripe names them: those under which the plan is in effect. */
const IN_EFFECT = ['active', 'trialing', 'past_due', 'canceling']

export function Billing(props: BillingProps) {
  const { base, plan, plans, done = '', trouble } = props
  const subscription = inEffect(props.subscription)
  return (
    <>
      <BillingTabs base={base} at="plan" />
      {trouble !== undefined && <Notice kind="trouble">{trouble}</Notice>}
      {trouble === undefined && <Said done={done} isSubscribed={subscription !== null} />}
      {subscription?.status === 'past_due' && (
        <Notice kind="trouble">
          The last payment failed. Set another payment method, or the plan ends when all attempts
          have failed.
        </Notice>
      )}
      <section class="card" aria-labelledby="current">
        <h2 id="current">Your plan</h2>
        <p class="figure">{plan.name}</p>
        {subscription === null ? (
          <p class="soft">No subscription: nothing is charged.</p>
        ) : (
          <SubscriptionFacts subscription={subscription} />
        )}
        {subscription !== null && <Portal base={base} />}
      </section>
      <PlanChoice base={base} plans={plans} current={plan} isSubscribed={subscription !== null} />
      {subscription !== null && (
        <Overages {...props} isOn={subscription.overagesEnabled === true} />
      )}
      {subscription !== null && <Ending base={base} subscription={subscription} />}
    </>
  )
}

function inEffect(subscription: Subscription | null): Subscription | null {
  return subscription !== null && IN_EFFECT.includes(subscription.status) ? subscription : null
}

/** Who comes back from paying may be faster than the event of the payment. */
function Said({ done, isSubscribed }: { readonly done: string; readonly isSubscribed: boolean }) {
  if (done === 'paid' && !isSubscribed) {
    return (
      <div id="paid" data-refresh="3">
        <Notice kind="hint">
          Thank you. The plan comes into effect as soon as the payment is confirmed, mostly within
          seconds.
        </Notice>
      </div>
    )
  }
  const said = done === 'paid' ? 'Thank you. The plan is in effect.' : DONE[done]
  return said === undefined ? null : <Notice kind="done">{said}</Notice>
}

function SubscriptionFacts({ subscription }: { readonly subscription: Subscription }) {
  const { status, currentPeriodStart, currentPeriodEnd } = subscription
  const ends = status === 'canceling'
  return (
    <dl class="facts">
      <div>
        <dt>Status</dt>
        <dd>{ends ? 'Cancelled, in effect until the period ends' : status.replaceAll('_', ' ')}</dd>
      </div>
      <div>
        <dt>Period since</dt>
        <dd>
          <Time at={currentPeriodStart} precision="day" />
        </dd>
      </div>
      <div>
        <dt>{ends ? 'Ends' : 'Renews'}</dt>
        <dd>
          <Time at={currentPeriodEnd} precision="day" />
        </dd>
      </div>
    </dl>
  )
}

function Portal({ base }: Pick<BillingProps, 'base'>) {
  return (
    <form method="post" action={`${base}/app/billing/portal`}>
      <button type="submit" class="quiet">
        Manage payment at Stripe
      </button>
    </form>
  )
}

type OveragesProps = Pick<BillingProps, 'base' | 'plan' | 'usage'> & { readonly isOn: boolean }

function Overages({ base, plan, usage, isOn }: OveragesProps) {
  return (
    <section class="card" aria-labelledby="overages">
      <div class="item-head">
        <h2 id="overages">Overages</h2>
        <span class={isOn ? 'badge good' : 'badge'}>{isOn ? 'On' : 'Off'}</span>
      </div>
      <p>
        {count(usage.totalRequests)} of {count(plan.monthlyCap)} requests of this period are used.{' '}
        {isOn
          ? 'Each one above the cap is answered in full and charged.'
          : 'Above the cap, answers are reduced to the country and cost nothing.'}
      </p>
      <form method="post" action={`${base}/app/billing/overages`}>
        <input type="hidden" name="overages" value={isOn ? 'off' : 'on'} />
        <button type="submit" class="quiet">
          {isOn ? 'Stop overages' : 'Allow overages for a fee'}
        </button>
      </form>
    </section>
  )
}

interface EndingProps {
  readonly base: string
  readonly subscription: Subscription
}

function Ending({ base, subscription }: EndingProps) {
  if (subscription.status === 'canceling') {
    return (
      <section class="card" aria-labelledby="ending">
        <h2 id="ending">Keep the subscription</h2>
        <p>Take the cancellation back, and it renews as before.</p>
        <form method="post" action={`${base}/app/billing/reactivate`}>
          <button type="submit">Keep the subscription</button>
        </form>
      </section>
    )
  }
  return (
    <section class="card" aria-labelledby="ending">
      <h2 id="ending">Cancel the subscription</h2>
      <p>
        The plan stays in effect until the end of the period that is paid for. Keys and sites above
        the limits of the free plan keep working.
      </p>
      <details class="confirm">
        <summary>Cancel…</summary>
        <form method="post" action={`${base}/app/billing/cancel`}>
          <button type="submit" class="danger">
            Cancel at the end of the period
          </button>
        </form>
      </details>
    </section>
  )
}
