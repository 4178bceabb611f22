import type { Plan } from '../../../lib/contract/billing/billing-schemas.ts'
import type { Interval, PlanPrices } from '../../../lib/contract/billing/price-schemas.ts'
import { PlanLimits } from '../../plan-limits.tsx'
import { PriceFigure } from '../../price-figure.tsx'
import { currencyOf, type PriceParts, priceBy, priceIn } from '../../price-text.ts'
import { ChoiceLinks } from '../parts/choice-links.tsx'
import { PostButton } from '../parts/form.tsx'
import { counted } from '../parts/format.ts'

export interface PlanChoiceProps {
  readonly base: string
  /** Cheapest first. */
  readonly plans: readonly Plan[]
  readonly prices: readonly PlanPrices[]
  /** By which the prices are shown. */
  readonly interval: Interval
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

/** The plans side by side, each with a button. A switch says how they are paid. */
export function PlanChoice(props: PlanChoiceProps) {
  const { base, plans, isAnySold, interval, current } = props
  const offers = plans.map((plan) => offerOf(plan, props))
  const intervals = new Set(offers.flatMap(({ intervals }) => intervals))
  const next = offers.findIndex(
    ({ plan, intervals }, at) =>
      intervals.length > 0 && at > plans.findIndex(({ id }) => id === current.id) && plan.price > 0,
  )
  return (
    <section class="plans" aria-labelledby="plans">
      <div class="item-head">
        <h2 id="plans">Plans</h2>
        {intervals.size > 1 && (
          <ChoiceLinks
            label="Paid"
            look="switch"
            links={INTERVALS.map(([value, text]) => ({
              text,
              href: `${base}/app/billing?${new URLSearchParams({ interval: value })}`,
              isChosen: value === interval,
            }))}
          />
        )}
      </div>
      {!isAnySold && <Unsold {...props} />}
      <ul class={isAnySold ? 'tiles sold' : 'tiles'}>
        {offers.map((offered, at) => (
          <PlanCard {...props} offered={offered} kind={at === next ? undefined : 'quiet'} />
        ))}
      </ul>
    </section>
  )
}

const INTERVALS = [
  ['month', 'Monthly'],
  ['year', 'Yearly'],
] as const satisfies readonly (readonly [Interval, string])[]

interface Offered {
  readonly plan: Plan
  readonly offer: PlanPrices | undefined
  readonly price: PriceParts
  /** By which it is sold to the user. */
  readonly intervals: readonly Interval[]
}

function offerOf(plan: Plan, { prices, paid, interval }: PlanChoiceProps): Offered {
  const found = prices.find(({ planId }) => planId === plan.id)
  const { offer, isSold } = offerTo(paid, found)
  const price = priceBy(plan, offer, { interval, currency: paid?.currency ?? currencyOf(prices) })
  return { plan, offer, price, intervals: isSold ? intervalsOf(plan, offer) : [] }
}

interface PlanCardProps extends PlanChoiceProps {
  readonly offered: Offered
  /** Of its button; undefined: the main action of the page. */
  readonly kind: 'quiet' | undefined
}

function PlanCard({ offered, kind, ...props }: PlanCardProps) {
  const { isAnySold, current, paid } = props
  const { plan, offer, price } = offered
  const isCurrent = plan.id === current.id
  const action = actionFor({ ...props, offered, kind })
  // Where plans are sold, each card has a row for its button.
  const isSettled = isCurrent && isAnySold && action === null
  return (
    <li class={isCurrent ? 'card current' : 'card'}>
      <div class="item-head">
        <h3>{plan.name}</h3>
        {isCurrent && !isSettled && <span class="badge good">Current plan</span>}
      </div>
      {isAnySold && (
        <div>
          <PriceFigure price={price} />
          {paid === null && offer?.trialDays !== undefined && (
            <p class="soft">First {counted(offer.trialDays, 'day', 'days')} free, once</p>
          )}
        </div>
      )}
      <PlanLimits plan={plan} requestsPerMinute={offer?.requestsPerMinute} />
      {action}
      {isSettled && (
        <button type="button" class="quiet" disabled>
          Current plan
        </button>
      )}
    </li>
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

/** The button of a plan: it buys, changes or pays it by the interval that its card shows. null: nothing to do. */
function actionFor({ base, current, paid, offered, kind }: PlanCardProps) {
  const { plan, price, intervals } = offered
  if (price.interval === null) return null
  if (intervals.length === 0) return <Unavailable paid={paid} />
  const wanted = { plan: plan.id, interval: price.interval }
  if (paid === null) {
    return plan.id === current.id ? null : (
      <PostButton
        action={`${base}/app/billing/checkout`}
        field={{ name: 'plan', value: wanted.plan }}
        text={`Subscribe to ${plan.name}`}
        {...(kind !== undefined && { kind })}
      >
        <input type="hidden" name="interval" value={wanted.interval} />
      </PostButton>
    )
  }
  const text = changeText(plan, current, { from: paid.interval, to: wanted.interval })
  return text === null ? null : (
    <p>
      <a
        class={kind === undefined ? 'button' : `button ${kind}`}
        href={`${base}/app/billing/change?${new URLSearchParams(wanted)}`}
      >
        {text}
      </a>
    </p>
  )
}

function Unavailable({ paid }: Pick<PlanChoiceProps, 'paid'>) {
  const currency = paid?.currency?.toUpperCase()
  return currency === undefined ? null : <p class="soft">Not available in {currency}</p>
}

/** null: the plan is already paid so. */
function changeText(
  plan: Plan,
  current: Plan,
  { from, to }: Readonly<Record<'from' | 'to', Interval>>,
): string | null {
  if (plan.id !== current.id) return `Change to ${plan.name}`
  return from === to ? null : `Pay by the ${to}`
}
