import type { Child } from 'hono/jsx'
import type { UsageStats } from '../../../lib/contract/account/account-schemas.ts'
import type { Plan, SubscriptionResponse } from '../../../lib/contract/billing/billing-schemas.ts'
import type { PlanPrices, Terms } from '../../../lib/contract/billing/price-schemas.ts'
import { FactList } from '../../fact-list.tsx'
import { Card } from '../parts/card.tsx'
import { Confirm, PostButton } from '../parts/form.tsx'
import { count, money } from '../parts/format.ts'
import { Notice, type PageProps, Result } from '../parts/notice.tsx'
import { Time } from '../parts/time.tsx'
import { BillingTabs } from './billing-tabs.tsx'
import { PlanChoice } from './plan-choice.tsx'

type Subscription = NonNullable<SubscriptionResponse['subscription']>

export interface BillingProps extends PageProps {
  /** The current plan. */
  readonly plan: Plan
  readonly subscription: Subscription | null
  readonly plans: readonly Plan[]
  readonly prices: readonly PlanPrices[]
  /** null: no active subscription. */
  readonly terms: Terms | null
  readonly usage: UsageStats
}

const DONE: Readonly<Record<string, string>> = {
  changed: 'Your plan is changed. The new plan applies now.',
  cancelled: 'Your subscription is cancelled. It stays active until the end of the period.',
  kept: 'Your subscription continues.',
  'overages-on': 'Requests over the cap now get full answers and are charged.',
  'overages-off': 'Requests over the cap now return only the country and cost nothing.',
  paid: 'Thank you. Your plan is active.',
}

/** The statuses in our API under which the plan applies. */
const ACTIVE = ['active', 'trialing', 'past_due', 'canceling']

export function Billing(props: BillingProps) {
  const { base, plan, plans, prices, terms, done = '', error } = props
  const isActive = ACTIVE.includes(props.subscription?.status ?? '')
  const subscription = isActive ? props.subscription : null
  return (
    <>
      <BillingTabs base={base} at="plan" />
      {done === 'paid' && error === undefined ? (
        <Payment isPending={subscription === null} />
      ) : (
        <Result error={error} done={DONE[done]} />
      )}
      {subscription?.status === 'past_due' && (
        <Notice kind="error">
          Your last payment failed. Choose another payment method. Your plan ends if all further
          attempts fail.
        </Notice>
      )}
      <Card id="current" title="Your plan">
        <p class="figure">{plan.name}</p>
        {subscription === null ? (
          <p class="soft">No subscription. You are not charged.</p>
        ) : (
          <>
            <SubscriptionFacts subscription={subscription} terms={terms} />
            <PostButton
              action={`${base}/app/billing/portal`}
              text="Manage payment at Stripe"
              kind="quiet"
            />
          </>
        )}
      </Card>
      <PlanChoice
        {...{ base, plans, prices }}
        current={plan}
        paid={subscription === null ? null : (terms?.interval ?? 'month')}
      />
      {subscription !== null && (
        <>
          <Overages {...props} isOn={subscription.overagesEnabled === true} />
          <KeepOrCancel base={base} isCancelled={subscription.status === 'canceling'} />
        </>
      )}
    </>
  )
}

/** The customer may return before Stripe reports the payment, so the page polls until then. */
function Payment({ isPending }: { readonly isPending: boolean }) {
  return (
    <div id="paid" data-refresh={isPending ? '3' : undefined}>
      {isPending ? (
        <Notice kind="hint">
          Thank you. Your plan becomes active as soon as the payment is confirmed, usually within
          seconds.
        </Notice>
      ) : (
        <Result error={undefined} done={DONE['paid']} />
      )}
    </div>
  )
}

interface SubscriptionFactsProps {
  readonly subscription: Subscription
  readonly terms: Terms | null
}

function SubscriptionFacts({ subscription, terms }: SubscriptionFactsProps) {
  const { status, currentPeriodStart, currentPeriodEnd } = subscription
  const ends = status === 'canceling'
  return (
    <FactList
      facts={[
        ['Status', ends ? 'Cancelled, active until the period ends' : status.replaceAll('_', ' ')],
        ['Price', terms === null ? undefined : termsText(terms)],
        ['Trial ends', trialText(terms, ends)],
        ['Period started', <Time at={currentPeriodStart} precision="day" />],
        [ends ? 'Ends' : 'Renews', <Time at={currentPeriodEnd} precision="day" />],
      ]}
    />
  )
}

/** undefined if the price is not known. */
function termsText({ amount, currency, interval }: Terms): string | undefined {
  return amount === null ? undefined : `${money(amount, currency ?? '')} per ${interval}`
}

/** When the trial ends, and what is charged then; undefined if there is none. */
function trialText(terms: Terms | null, isCanceled: boolean): Child {
  if (terms === null || terms.trialEndsAt === null) return undefined
  const amount = terms.amount === null ? 'the price' : money(terms.amount, terms.currency ?? '')
  return (
    <>
      <Time at={terms.trialEndsAt} precision="day" />
      {isCanceled
        ? '; nothing will be charged'
        : `; then ${amount} is charged, plus tax if any, less discounts`}
    </>
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
        You have used {count(usage.totalRequests)} of {count(plan.monthlyCap)} requests in this
        period.{' '}
        {isOn
          ? 'Each request over the cap gets a full answer and is charged.'
          : 'Over the cap, look-ups return only the country and cost nothing.'}
      </p>
      <PostButton
        action={`${base}/app/billing/overages`}
        field={{ name: 'overages', value: isOn ? 'off' : 'on' }}
        text={isOn ? 'Stop overages' : 'Allow overages for a fee'}
        kind="quiet"
      />
    </section>
  )
}

function KeepOrCancel({ base, isCancelled }: { base: string; isCancelled: boolean }) {
  if (isCancelled) {
    return (
      <Card id="ending" title="Keep your subscription">
        <p>Undo the cancellation, and your subscription renews as before.</p>
        <PostButton action={`${base}/app/billing/reactivate`} text="Keep subscription" />
      </Card>
    )
  }
  return (
    <Card id="ending" title="Cancel your subscription">
      <p>
        Your plan stays active until the end of the period you have paid for. Keys and sites over
        the limits of the free plan keep working.
      </p>
      <Confirm
        summary="Cancel…"
        action={`${base}/app/billing/cancel`}
        text="Cancel at the end of the period"
      />
    </Card>
  )
}
