import type { Plan } from '../../../lib/contract/billing/billing-schemas.ts'
import type { Interval, PlanPrices } from '../../../lib/contract/billing/price-schemas.ts'
import { priceIn, priceTexts } from '../../price-text.ts'
import { PostButton } from '../parts/form.tsx'
import { count, counted } from '../parts/format.ts'

export interface PlanChoiceProps {
  readonly base: string
  /** Cheapest first. */
  readonly plans: readonly Plan[]
  readonly prices: readonly PlanPrices[]
  /** The plan that applies now. */
  readonly current: Plan
  /** How the subscription is paid; null: there is none. */
  readonly paid: Paid | null
  /** Whether the service sells plans: otherwise no prices are shown. */
  readonly isAnySold: boolean
  /** Where an operator gives the account another plan; null: the user is not an operator. */
  readonly operatePath: string | null
}

interface Paid {
  readonly interval: Interval
  /** It stays with the subscription; null if it is not known. */
  readonly currency: string | null
}

/** The plans side by side, each with a button for every way to pay it. */
export function PlanChoice(props: PlanChoiceProps) {
  const { base, plans, prices, isAnySold, current, paid } = props
  return (
    <section class="plans" aria-labelledby="plans">
      <h2 id="plans">Plans</h2>
      {!isAnySold && <Unsold {...props} />}
      <ul class="tiles">
        {plans.map((plan) => {
          const { offer, isSold } = offerTo(
            paid,
            prices.find(({ planId }) => planId === plan.id),
          )
          return (
            <li class={plan.id === current.id ? 'card current' : 'card'}>
              <h3>{plan.name}</h3>
              {isAnySold && priceTexts(plan, offer).map((text) => <PriceFigure text={text} />)}
              <ul class="plain">
                {paid === null && offer?.trialDays !== undefined && (
                  <li>First {counted(offer.trialDays, 'day', 'days')} free, once</li>
                )}
                <li>{counted(plan.monthlyCap, 'request', 'requests')} per month</li>
                {offer !== undefined && <li>{count(offer.requestsPerMinute)} per minute</li>}
                <li>{counted(plan.maxKeys, 'key', 'keys')}</li>
                <li>{counted(plan.maxSites, 'site', 'sites')}</li>
              </ul>
              <PlanActions
                {...{ base, plan, current, paid }}
                intervals={isSold ? intervalsOf(plan, offer) : []}
              />
            </li>
          )
        })}
      </ul>
    </section>
  )
}

/** How to get another plan where none is sold. */
function Unsold({ base, operatePath }: Pick<PlanChoiceProps, 'base' | 'operatePath'>) {
  if (operatePath === null) {
    return <p class="soft">Ask those who run this service for another plan.</p>
  }
  return (
    <p>
      <a class="button" href={`${base}${operatePath}`}>
        Give this account another plan
      </a>
    </p>
  )
}

function PriceFigure({ text }: { readonly text: string }) {
  const [amount, interval] = text.split(' per ')
  return (
    <p class="figure">
      {amount}
      {interval !== undefined && <span class="soft per"> per {interval}</span>}
    </p>
  )
}

/** What a subscriber sees of an offer: the prices in the currency of the subscription, if it has any. */
function offerTo(paid: Paid | null, offer: PlanPrices | undefined) {
  const currency = paid?.currency ?? null
  if (currency === null || offer === undefined || offer.prices.length === 0) {
    return { offer, isSold: true }
  }
  const own = offer.prices.flatMap((price) => priceIn(price, currency) ?? [])
  return own.length === 0
    ? { offer, isSold: false }
    : { offer: { ...offer, prices: own }, isSold: true }
}

/** Until the prices are known, a plan that is for sale is sold by the month. */
function intervalsOf({ stripePriceId }: Plan, offer: PlanPrices | undefined): readonly Interval[] {
  const intervals = (offer?.prices ?? []).map(({ interval }) => interval)
  if (intervals.length > 0) return intervals
  return stripePriceId === null ? [] : ['month']
}

interface PlanActionsProps extends Pick<PlanChoiceProps, 'base' | 'current' | 'paid'> {
  readonly plan: Plan
  readonly intervals: readonly Interval[]
}

function PlanActions({ base, plan, current, paid, intervals }: PlanActionsProps) {
  const how = (interval: Interval) => (intervals.length > 1 ? `, by the ${interval}` : '')
  if (plan.id === current.id) {
    const others = paid === null ? [] : intervals.filter((interval) => interval !== paid.interval)
    return (
      <>
        <p class="soft">Current plan</p>
        {others.map((interval) => (
          <ChangeLink {...{ base, plan, interval }} text={`Pay by the ${interval}`} />
        ))}
      </>
    )
  }
  if (intervals.length === 0) {
    const currency = paid?.currency?.toUpperCase()
    return (
      <p class="soft">
        {currency !== undefined && plan.price > 0 && `Not available in ${currency}`}
      </p>
    )
  }
  return (
    <>
      {intervals.map((interval) =>
        paid === null ? (
          <PostButton
            action={`${base}/app/billing/checkout`}
            field={{ name: 'plan', value: plan.id }}
            text={`Subscribe to ${plan.name}${how(interval)}`}
          >
            <input type="hidden" name="interval" value={interval} />
          </PostButton>
        ) : (
          <ChangeLink
            {...{ base, plan, interval }}
            text={`Change to ${plan.name}${how(interval)}`}
          />
        ),
      )}
    </>
  )
}

interface ChangeLinkProps {
  readonly base: string
  readonly plan: Plan
  readonly interval: Interval
  readonly text: string
}

function ChangeLink({ base, plan, interval, text }: ChangeLinkProps) {
  const query = new URLSearchParams({ plan: plan.id, interval })
  return (
    <p>
      <a class="button quiet" href={`${base}/app/billing/change?${query}`}>
        {text}
      </a>
    </p>
  )
}
