import type { BillingDetails } from '../../../lib/contract/billing/billing-schemas.ts'
import { Card } from '../parts/card.tsx'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import type { PageProps } from '../parts/notice.tsx'

/** All fields but the country. Each `name` is the one in `updateAddress`. */
const LINES = [
  { name: 'line1', label: 'Address', maxlength: 200, autocomplete: 'address-line1' },
  { name: 'line2', label: 'Address line 2', maxlength: 200, autocomplete: 'address-line2' },
  { name: 'city', label: 'City', maxlength: 100, autocomplete: 'address-level2' },
  { name: 'state', label: 'State or region', maxlength: 100, autocomplete: 'address-level1' },
  { name: 'postal_code', label: 'Postal code', maxlength: 20, autocomplete: 'postal-code' },
] as const

export type TypedAddress = Readonly<Record<string, string>>

interface AddressFormProps extends Pick<PageProps, 'base' | 'problem'> {
  readonly details: BillingDetails
  /** Shown instead of the stored address, if it was refused. */
  readonly typed?: TypedAddress | undefined
}

/** The customer details that invoices show. */
export function AddressForm({ base, details, typed, problem }: AddressFormProps) {
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
        <Field
          name="country"
          label="Country"
          value={shown('country')}
          problem={problem}
          hint="Two-letter code, such as GB"
          maxlength={2}
          autocomplete="country"
          required
        />
      </Form>
    </Card>
  )
}
