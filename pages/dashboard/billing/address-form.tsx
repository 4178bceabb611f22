import type { BillingDetails } from '../../../lib/contract/billing/billing-schemas.ts'
import { Card } from '../parts/card.tsx'
import { Field, Option, Select } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import type { PageProps } from '../parts/notice.tsx'
import type { CountryName } from '../vitals/filters.tsx'

/** All fields but the country. Each `name` is the one in `updateAddress`. */
const LINES = [
  { name: 'line1', label: 'Address', maxlength: 200, autocomplete: 'address-line1' },
  { name: 'line2', label: 'Address line 2', maxlength: 200, autocomplete: 'address-line2' },
  { name: 'city', label: 'City', maxlength: 100, autocomplete: 'address-level2' },
  { name: 'state', label: 'State or region', maxlength: 100, autocomplete: 'address-level1' },
  { name: 'postal_code', label: 'Postal code', maxlength: 20, autocomplete: 'postal-code' },
] as const

export type TypedFields = Readonly<Record<string, string>>

interface AddressFormProps extends Pick<PageProps, 'base' | 'problem'> {
  readonly details: BillingDetails
  readonly countries: readonly CountryName[]
  /** Shown instead of the stored address, if it was refused. */
  readonly typed?: TypedFields | undefined
}

/** The customer details that invoices show. */
export function AddressForm({ base, details, countries, typed, problem }: AddressFormProps) {
  const { name, email, address } = details
  const stored = { ...address, postal_code: address?.postalCode }
  const shown = (name: keyof typeof stored) => typed?.[name] ?? stored[name] ?? ''
  return (
    <Card id="address" title="Billing address">
      <p class="soft">{[name, email].filter((text) => text !== null).join(', ')}</p>
      <Form action={`${base}/app/billing/address`} text="Save address" kind="quiet">
        {LINES.map((line) => (
          <Field {...line} value={shown(line.name)} problem={problem} />
        ))}
        <Select name="country" label="Country" problem={problem} autocomplete="country" required>
          <Option value="" text="Choose a country" chosen={shown('country')} />
          {withStored(countries, shown('country')).map(({ code, name }) => (
            <Option value={code} text={name} chosen={shown('country').toUpperCase()} />
          ))}
        </Select>
      </Form>
    </Card>
  )
}

/** Stripe may have a code that the list of places lacks. */
function withStored(countries: readonly CountryName[], code: string): readonly CountryName[] {
  const byName = countries.toSorted((a, b) => a.name.localeCompare(b.name))
  const isListed = code === '' || countries.some((country) => country.code === code.toUpperCase())
  return isListed ? byName : [...byName, { code, name: code }]
}
