import type {
  ActiveDiscount,
  BillingDetails,
  Invoice,
  PaymentMethodInfo,
  TaxId,
} from '../../lib/contract/billing-schemas.ts'
import { AddressForm } from './address-form.tsx'
import { BillingTabs } from './billing-tabs.tsx'
import { Field } from './field.tsx'
import { InvoiceTable } from './invoice-table.tsx'
import { Notice } from './notice.tsx'
import { TaxIds } from './tax-ids.tsx'
import { dayOf, money } from './words.ts'

interface Account {
  readonly invoices: readonly Invoice[]
  readonly details: BillingDetails
  readonly card: PaymentMethodInfo
  readonly discount: ActiveDiscount
  readonly taxIds: readonly TaxId[]
}

export interface InvoicesProps {
  readonly base: string
  /** `missing`: why there is none; null: nothing has been bought yet. */
  readonly account: Account | { readonly missing: string | null }
  readonly done?: string | undefined
  readonly trouble?: string
}

const DONE: Readonly<Record<string, string>> = {
  address: 'The address is saved, for the next invoices.',
  promo: 'The promotion code is applied.',
  'tax-id': 'The tax id is added.',
  'tax-id-removed': 'The tax id is removed.',
}

export function Invoices({ base, account, done = '', trouble }: InvoicesProps) {
  const said = DONE[done]
  return (
    <>
      <BillingTabs base={base} at="invoices" />
      {trouble !== undefined && <Notice kind="trouble">{trouble}</Notice>}
      {trouble === undefined && said !== undefined && <Notice kind="done">{said}</Notice>}
      {'missing' in account ? (
        <Missing base={base} why={account.missing} />
      ) : (
        <AccountView base={base} account={account} />
      )}
    </>
  )
}

function Missing({ base, why }: { readonly base: string; readonly why: string | null }) {
  if (why !== null) return <Notice kind="trouble">{why}</Notice>
  return (
    <section class="card empty">
      <h2>Nothing bought yet</h2>
      <p>Invoices, your card and what stands on invoices are here after the first checkout.</p>
      <p>
        <a class="button" href={`${base}/app/billing`}>
          Choose a plan
        </a>
      </p>
    </section>
  )
}

function AccountView({ base, account }: { readonly base: string; readonly account: Account }) {
  const { invoices, details, card, discount, taxIds } = account
  return (
    <>
      <InvoiceTable invoices={invoices} />
      <Card base={base} card={card} />
      <Promotion base={base} discount={discount} />
      <AddressForm base={base} details={details} />
      <TaxIds base={base} taxIds={taxIds} />
    </>
  )
}

function Card({ base, card }: { readonly base: string; readonly card: PaymentMethodInfo }) {
  const { brand, last4, expMonth, expYear } = card
  return (
    <section class="card" aria-labelledby="method">
      <h2 id="method">Payment method</h2>
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
      <form method="post" action={`${base}/app/billing/portal`}>
        <button type="submit" class="quiet">
          Change it at Stripe
        </button>
      </form>
    </section>
  )
}

function Promotion({
  base,
  discount,
}: {
  readonly base: string
  readonly discount: ActiveDiscount
}) {
  return (
    <section class="card" aria-labelledby="promotion">
      <h2 id="promotion">Promotion code</h2>
      <p>{'code' in discount ? wordsOf(discount) : 'None is applied.'}</p>
      <form class="stack" method="post" action={`${base}/app/billing/promo`}>
        <Field name="code" label="Code" maxlength={200} autocomplete="off" required />
        <button type="submit" class="quiet">
          Apply
        </button>
      </form>
    </section>
  )
}

function wordsOf(discount: Exclude<ActiveDiscount, Record<string, never>>): string {
  const { code, percentOff, amountOff, currency, endsAt } = discount
  const off = percentOff === null ? money(amountOff ?? 0, currency ?? '') : `${percentOff} %`
  const until = endsAt === null ? '' : ` until ${dayOf(endsAt)}`
  return `${code ?? 'A discount'}: ${off} off${until}.`
}
