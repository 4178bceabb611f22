import type { BillingDetails } from '../../../lib/contract/billing/billing-schemas.ts'
import { Card } from '../parts/card.tsx'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'

/** All fields but the country. Each `name` is the one in `updateAddress`. */
const LINES = [
  { name: 'line1', label: 'Address', maxlength: 200, autocomplete: 'address-line1' },
  { name: 'line2', label: 'Address line 2', maxlength: 200, autocomplete: 'address-line2' },
  { name: 'city', label: 'City', maxlength: 100, autocomplete: 'address-level2' },
  { name: 'state', label: 'State or region', maxlength: 100, autocomplete: 'address-level1' },
  { name: 'postal_code', label: 'Postal code', maxlength: 20, autocomplete: 'postal-code' },
] as const

/** The customer details that invoices show. */
export function AddressForm({ base, details }: { base: string; details: BillingDetails }) {
  const { name, email, address } = details
  const values = { ...address, postal_code: address?.postalCode }
  return (
    <Card id="address" title="Billing address">
      <p class="soft">{[name, email].filter((text) => text !== null).join(', ')}</p>
      <Form action={`${base}/app/billing/address`} text="Save address" kind="quiet">
        {LINES.map((line) => (
          <Field {...line} value={values[line.name] ?? ''} />
        ))}
        <Field
          name="country"
          label="Country"
          value={address?.country ?? ''}
          hint="Two-letter code, such as GB"
          maxlength={2}
          autocomplete="country"
          required
        />
      </Form>
    </Card>
  )
}
