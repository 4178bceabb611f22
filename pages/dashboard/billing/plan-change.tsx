import type { Plan, ProrationPreview } from '../../../lib/contract/billing/billing-schemas.ts'
import type { Interval, PlanPrices, Terms } from '../../../lib/contract/billing/price-schemas.ts'
import { priceIn } from '../../price-text.ts'
import { numbers, Table } from '../../table.tsx'
import { Card } from '../parts/card.tsx'
import { PostButton } from '../parts/form.tsx'
import { money } from '../parts/money.ts'
import { Time } from '../parts/time.tsx'

interface PlanChangeProps {
  readonly base: string
  readonly from: Plan
  readonly to: Plan
  readonly interval: Interval | undefined
  readonly preview: ProrationPreview
  /** What the new plan costs; undefined if Stripe has not said yet. */
  readonly offer: PlanPrices | undefined
  /** null: no active subscription. */
  readonly terms: Terms | null
}

/** Shows what changing the plan will cost, and asks for confirmation. */
export function PlanChange(props: PlanChangeProps) {
  const { base, from, to, interval, preview } = props
  const { amountDue, currency, lines } = preview
  const credit = -lines.reduce((sum, { amount }) => sum + amount, 0)
  const how = interval === undefined ? '' : `, paid by the ${interval}`
  return (
    <Card id="change" title={`From ${from.name} to ${to.name}${how}`}>
      <div class="wide">
        <Table heads={['Item', ...numbers('Amount')]}>
          {lines.map(({ description, amount }) => (
            <tr>
              <th scope="row">{description ?? 'Other'}</th>
              <td class="number">{money(amount, currency)}</td>
            </tr>
          ))}
          <tr class="total">
            <th scope="row">Charged now</th>
            <td class="number">{money(amountDue, currency)}</td>
          </tr>
          {amountDue <= 0 && credit > 0 && (
            <tr class="total">
              <th scope="row">Credit for your next invoices, before tax</th>
              <td class="number">{money(credit, currency)}</td>
            </tr>
          )}
        </Table>
      </div>
      <Later {...props} />
      <p class="soft">
        This amount is valid for one hour, unless you switch between monthly and yearly payment.
        Requests that you make before you confirm can lower a credit.
      </p>
      <PostButton
        action={`${base}/app/billing/change`}
        field={{ name: 'plan', value: to.id }}
        text={amountDue > 0 ? `Change and pay ${money(amountDue, currency)}` : 'Change plan'}
        instead={{ href: `${base}/app/billing`, text: `Keep ${from.name}` }}
      >
        {interval !== undefined && <input type="hidden" name="interval" value={interval} />}
      </PostButton>
    </Card>
  )
}

/** The price of each later period, and the end of a trial that goes on. */
function Later({ interval: wanted, preview, offer, terms }: PlanChangeProps) {
  const { currency, lines } = preview
  const interval = wanted ?? terms?.interval ?? 'month'
  const price = offer?.prices.find((one) => one.interval === interval)
  const own = price && priceIn(price, currency)
  if (own === undefined) return null
  // A change that ends the trial is charged.
  const isFree = lines.every(({ amount }) => amount === 0)
  const trialEndsAt = isFree ? (terms?.trialEndsAt ?? null) : null
  return (
    <p>
      {trialEndsAt === null ? (
        'Then '
      ) : (
        <>
          Your trial goes on until <Time at={trialEndsAt} precision="day" />; then{' '}
        </>
      )}
      {money(own.amount, currency)} per {interval}, plus tax if any, less discounts.
    </p>
  )
}
