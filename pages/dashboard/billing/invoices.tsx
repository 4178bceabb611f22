import type {
  ActiveDiscount,
  BillingDetails,
  Invoice,
  PaymentMethodInfo,
  TaxId,
} from '../../../lib/contract/billing/billing-schemas.ts'
import { Card } from '../parts/card.tsx'
import { Field } from '../parts/field.tsx'
import { Form, PostButton } from '../parts/form.tsx'
import { dayText } from '../parts/format.ts'
import { money } from '../parts/money.ts'
import { Notice, type PageProps, Result } from '../parts/notice.tsx'
import type { CountryName } from '../vitals/filters.tsx'
import { AddressForm, type TypedFields } from './address-form.tsx'
import { BillingTabs } from './billing-tabs.tsx'
import { InvoiceTable } from './invoice-table.tsx'
import { TaxIds } from './tax-ids.tsx'

interface Account {
  readonly invoices: readonly Invoice[]
  readonly details: BillingDetails
  readonly card: PaymentMethodInfo
  readonly discount: ActiveDiscount
  readonly taxIds: readonly TaxId[]
}

export interface InvoicesProps extends PageProps {
  readonly countries: readonly CountryName[]
  /** `missing`: why the account cannot be shown; null if the user has not bought anything yet. */
  readonly account: Account | { readonly missing: string | null }
  /** What was refused, by the names of its fields. */
  readonly typed?: TypedFields | undefined
}

const DONE: Readonly<Record<string, string>> = {
  address: 'Address saved. It will be on your next invoices.',
  promo: 'Promotion code applied.',
  'tax-id': 'Tax ID added.',
  'tax-id-removed': 'Tax ID removed.',
}

export function Invoices({ base, account, countries, done = '', ...refused }: InvoicesProps) {
  const { error, problem, typed } = refused
  return (
    <>
      <BillingTabs base={base} at="invoices" />
      <Result error={error} done={DONE[done]} />
      {'missing' in account ? (
        <Missing base={base} why={account.missing} />
      ) : (
        <>
          <InvoiceTable invoices={account.invoices} />
          <PaymentMethod base={base} card={account.card} />
          <Promotion base={base} discount={account.discount} typed={typed} problem={problem} />
          <AddressForm {...{ base, countries, typed, problem }} details={account.details} />
          <TaxIds base={base} taxIds={account.taxIds} typed={typed} problem={problem} />
        </>
      )}
    </>
  )
}

function Missing({ base, why }: { readonly base: string; readonly why: string | null }) {
  if (why !== null) return <Notice kind="error">{why}</Notice>
  return (
    <section class="card">
      <h2>Nothing bought yet</h2>
      <p>After your first checkout, this page shows your invoices, payment method and address.</p>
      <p>
        <a class="button" href={`${base}/app/billing`}>
          Choose a plan
        </a>
      </p>
    </section>
  )
}

function PaymentMethod({ base, card }: { base: string; card: PaymentMethodInfo }) {
  const { brand, last4, expMonth, expYear } = card
  return (
    <Card id="method" title="Payment method">
      <p>
        {brand === null ? (
          'None'
        ) : (
          <>
            {brand} ending in {last4}
            {expMonth !== null && (
              <span class="soft">
                , expires {String(expMonth).padStart(2, '0')}/{expYear}
              </span>
            )}
          </>
        )}
      </p>
      <PostButton action={`${base}/app/billing/portal`} text="Change at Stripe" kind="quiet" />
    </Card>
  )
}

interface PromotionProps extends Pick<InvoicesProps, 'base' | 'typed' | 'problem'> {
  readonly discount: ActiveDiscount
}

function Promotion({ base, discount, typed, problem }: PromotionProps) {
  return (
    <Card id="promotion" title="Promotion code">
      <p>{'code' in discount ? discountText(discount) : 'No code applied.'}</p>
      <Form action={`${base}/app/billing/promo`} text="Apply" kind="quiet">
        <Field
          name="code"
          label="Code"
          value={typed?.['code'] ?? ''}
          problem={problem}
          maxlength={200}
          autocomplete="off"
          required
        />
      </Form>
    </Card>
  )
}

function discountText(discount: Exclude<ActiveDiscount, Record<string, never>>): string {
  const { code, percentOff, amountOff, currency, endsAt } = discount
  const off = percentOff === null ? money(amountOff ?? 0, currency ?? '') : `${percentOff}%`
  const until = endsAt === null ? '' : ` until ${dayText(endsAt)}`
  return `${code ?? 'A discount'}: ${off} off${until}.`
}
