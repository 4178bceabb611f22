import { decimalPlaces, moneyText } from '../../../lib/config/money.ts'
import { amountOf } from '../../../lib/config/overage-terms.ts'
import type { Overages as OveragesState } from '../../../lib/contract/billing/overages.ts'
import { FactList } from '../../fact-list.tsx'
import { Card } from '../parts/card.tsx'
import { Choice, Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { count } from '../parts/format.ts'
import { type PageProps, Result } from '../parts/notice.tsx'
import { StopOverages } from './overages-card.tsx'

export interface OveragesProps extends PageProps {
  readonly overages: OveragesState
}

const DONE: Readonly<Record<string, string>> = { cap: 'Spending cap changed.' }

/** The price of requests over the cap, the spending cap, and the consent to pay. */
export function Overages({ base, overages, done = '', error, problem }: OveragesProps) {
  const { overagesEnabled, currency, spendingCap, units, amount } = overages
  return (
    <>
      <Result error={error} done={DONE[done]} />
      <Card id="price" title="Requests over the monthly cap">
        <FactList
          facts={[
            ['Price', <Price overages={overages} />],
            ['At most', `${moneyText(spendingCap, currency)} per period, your spending cap`],
            ['So far', `${count(units)} requests, ${moneyText(amount, currency)}`],
          ]}
        />
        <p class="soft">
          Before tax and discounts. Over the spending cap, look-ups cost nothing and return only the
          country.
        </p>
        {overagesEnabled && (
          <>
            <p class="soft">If you stop, the requests so far are charged, within about an hour.</p>
            <StopOverages base={base} />
          </>
        )}
      </Card>
      <SpendingCap base={base} overages={overages} problem={problem} />
      {!overagesEnabled && <Consent base={base} overages={overages} />}
    </>
  )
}

const EXAMPLE = 10_000

function Price({ overages: { unitPrice, currency } }: Pick<OveragesProps, 'overages'>) {
  const example = amountOf({ unitAmount: unitPrice }, EXAMPLE)
  return (
    <>
      {moneyText(unitPrice, currency)} per request. For example, {count(EXAMPLE)} requests cost{' '}
      {moneyText(example, currency)}.
    </>
  )
}

function SpendingCap({ base, overages, problem }: OveragesProps) {
  const { currency, spendingCap, largestSpendingCap } = overages
  const digits = decimalPlaces(currency)
  return (
    <Card id="cap" title="Spending cap">
      <Form action={`${base}/app/billing/overages/cap`} text="Save" kind="quiet">
        <Field
          name="amount"
          label={`The most you pay per period, in ${currency.toUpperCase()}`}
          value={(spendingCap / 10 ** digits).toFixed(digits)}
          hint={`Up to ${moneyText(largestSpendingCap, currency)}`}
          maxlength={20}
          autocomplete="off"
          problem={problem}
          required
        />
      </Form>
    </Card>
  )
}

/** The price and the cap are sent along: consent is given to what was shown. */
function Consent({ base, overages }: Pick<OveragesProps, 'base' | 'overages'>) {
  const { unitPrice, currency, spendingCap } = overages
  return (
    <Card id="consent" title="Turn on overages">
      <Form
        action={`${base}/app/billing/overages`}
        field={{ name: 'terms', value: termsOf(overages) }}
        text="Turn on overages"
      >
        <Choice type="checkbox" name="overages" value="on" checked={false} required>
          I agree to pay {moneyText(unitPrice, currency)} for each request over the monthly cap, in
          addition to my plan, up to {moneyText(spendingCap, currency)} per period.
        </Choice>
      </Form>
    </Card>
  )
}

/** Price and cap, to compare what was shown with what applies. */
export function termsOf({ unitPrice, currency, spendingCap }: OveragesState): string {
  return `${unitPrice} ${currency} ${spendingCap}`
}
