import type { Child } from 'hono/jsx'
import type { UsageStats } from '../../../lib/contract/account/account-schemas.ts'
import type { Plan, SubscriptionResponse } from '../../../lib/contract/billing/billing-schemas.ts'
import type { Overages } from '../../../lib/contract/billing/overages.ts'
import type { Interval, PlanPrices, Terms } from '../../../lib/contract/billing/price-schemas.ts'
import { FactList } from '../../fact-list.tsx'
import { labelOf } from '../../facts.ts'
import { Card } from '../parts/card.tsx'
import { Confirm, PostButton } from '../parts/form.tsx'
import { money } from '../parts/money.ts'
import { Notice, type PageProps, Result } from '../parts/notice.tsx'
import { Time } from '../parts/time.tsx'
import { OveragesCard } from './overages-card.tsx'
import { PlanChoice, type PlanChoiceProps } from './plan-choice.tsx'

type Subscribed = NonNullable<SubscriptionResponse['subscription']>

export interface BillingProps
  extends PageProps,
    Pick<PlanChoiceProps, 'isAnySold' | 'operatePath'> {
  /** By which prices are shown; undefined: as the subscription is paid, or by the month. */
  readonly interval: Interval | undefined
  /** The current plan. */
  readonly plan: Plan
  readonly subscription: Subscribed | null
  readonly plans: readonly Plan[]
  readonly prices: readonly PlanPrices[]
  /** null: no active subscription. */
  readonly terms: Terms | null
  readonly usage: UsageStats
  /** null if the plan has no overages, or their price is not known. */
  readonly overages: Overages | null
  /** Whether the user is a customer at Stripe. */
  readonly isCustomer: boolean
  /** Where to pay the open invoice; undefined: nothing is open, or Stripe does not answer. */
  readonly payUrl?: string | undefined
}

const DONE: Readonly<Record<string, string>> = {
  changed: 'Your plan is changed. The new plan applies now.',
  cancelled: 'Your subscription is cancelled. It stays active until the end of the period.',
  kept: 'Your subscription continues.',
  'overages-on':
    'Requests over the cap now get full answers and are charged, up to your spending cap.',
  'overages-off': 'Requests over the cap now return only the country and cost nothing.',
  paid: 'Thank you. Your plan is active.',
}

/** The statuses in our API under which the plan applies. */
const LIVE = ['active', 'trialing', 'past_due', 'canceling']

export function Billing(props: BillingProps) {
  const { done = '', error } = props
  const isActive = LIVE.includes(props.subscription?.status ?? '')
  const subscription = isActive ? props.subscription : null
  const isPending = done === 'paid' && subscription === null
  return (
    <>
      {done === 'paid' && error === undefined ? (
        <Payment isPending={isPending} />
      ) : (
        <Result error={error} done={DONE[done]} />
      )}
      <div id="subscription" class="parts" data-refresh={refreshIf(isPending)}>
        <Unpaid status={props.subscription?.status} payUrl={props.payUrl} />
        <LapsedChange {...props} />
        <Subscription {...props} subscription={subscription} />
      </div>
    </>
  )
}

function Subscription(props: BillingProps) {
  const { base, plan, plans, prices, terms, subscription, isAnySold, operatePath } = props
  return (
    <>
      <Card
        id="current"
        title={
          <>
            Your plan{' '}
            <span class="badges">
              {subscription !== null && <Status subscription={subscription} terms={terms} />}
            </span>
          </>
        }
      >
        <p class="figure">{plan.name}</p>
        {subscription === null ? (
          isAnySold && <p class="soft">No subscription. You are not charged.</p>
        ) : (
          <SubscriptionFacts subscription={subscription} terms={terms} />
        )}
      </Card>
      <PlanChoice
        {...{ base, plans, prices, isAnySold, operatePath }}
        interval={props.interval ?? terms?.interval ?? 'month'}
        current={plan}
        paid={subscription === null ? null : (terms ?? { interval: 'month', currency: null })}
      />
      {subscription !== null && (
        <>
          <OveragesCard {...props} isOn={subscription.overagesEnabled === true} />
          <KeepOrCancel base={base} isCancelled={subscription.status === 'canceling'} />
        </>
      )}
      {props.isCustomer && <Portal base={base} />}
    </>
  )
}

function Portal({ base }: { readonly base: string }) {
  return (
    <Card id="portal" title="Invoices and payment">
      <p>
        The customer portal at Stripe shows your invoices. There you can also change your payment
        method, billing address and tax IDs.
      </p>
      <PostButton
        action={`${base}/app/billing/portal`}
        text="Open the customer portal"
        kind="quiet"
      />
    </Card>
  )
}

const UNPAID: Readonly<Record<string, string>> = {
  past_due:
    'Your last payment failed, or your bank asks you to confirm it. Pay the open invoice, or choose another payment method. Your plan ends if all further attempts fail.',
  incomplete:
    'Your first payment failed, or your bank asks you to confirm it. Your plan starts when you pay the open invoice.',
}

interface UnpaidProps extends Pick<BillingProps, 'payUrl'> {
  readonly status: string | undefined
}

function Unpaid({ status = '', payUrl }: UnpaidProps) {
  const text = UNPAID[status]
  if (text === undefined) return null
  return (
    <Notice kind="error">
      {text}
      {payUrl !== undefined && (
        <>
          {' '}
          <a href={payUrl} rel="noreferrer">
            Pay or confirm at Stripe
          </a>
        </>
      )}
    </Notice>
  )
}

function LapsedChange({ terms, plans }: Pick<BillingProps, 'terms' | 'plans'>) {
  const { planId, interval } = terms?.lapsedChange ?? {}
  if (planId === undefined) return null
  const name = plans.find(({ id }) => id === planId)?.name ?? planId
  return (
    <Notice kind="error">
      Your change to {name}, paid by the {interval}, was not made: the payment was not confirmed in
      time. You owe nothing for it.
    </Notice>
  )
}

/** The customer may return before Stripe reports the payment, so the page polls until then. */
function Payment({ isPending }: { readonly isPending: boolean }) {
  return (
    <div id="paid" data-refresh={refreshIf(isPending)}>
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

/** In seconds. */
function refreshIf(isPending: boolean): string | undefined {
  return isPending ? '3' : undefined
}

interface SubscriptionFactsProps {
  readonly subscription: Subscribed
  readonly terms: Terms | null
}

function SubscriptionFacts({ subscription, terms }: SubscriptionFactsProps) {
  const { currentPeriodStart, currentPeriodEnd } = subscription
  const { endsAt, renews } = endOf(subscription, terms)
  return (
    <FactList
      facts={[
        ['Price', terms === null ? undefined : termsText(terms)],
        ['Trial ends', trialText(terms, !renews)],
        ['Period started', <Time at={currentPeriodStart} precision="day" />],
        ['Renews', renews ? <Time at={currentPeriodEnd} precision="day" /> : undefined],
        ['Ends', endsAt === null ? undefined : <Time at={endsAt} precision="day" />],
      ]}
    />
  )
}

/** When it ends, or null, and whether it renews before: the operator may have scheduled the end for months later. */
function endOf({ status, currentPeriodEnd }: Subscribed, terms: Terms | null) {
  const endsAt = status === 'canceling' ? (terms?.cancelAt ?? currentPeriodEnd) : null
  return {
    endsAt,
    renews: endsAt === null || currentPeriodEnd === null || endsAt > currentPeriodEnd,
  }
}

function Status({ subscription, terms }: SubscriptionFactsProps) {
  const { status } = subscription
  if (status === 'canceling') {
    const { renews } = endOf(subscription, terms)
    const until = renews ? 'it ends' : 'the period ends'
    return (
      <span class="badge near">
        {labelOf(status)}, active until {until}
      </span>
    )
  }
  return <span class={status === 'past_due' ? 'badge error' : 'badge good'}>{labelOf(status)}</span>
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
