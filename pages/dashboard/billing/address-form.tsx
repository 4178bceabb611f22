import type { BillingDetails } from '../../lib/contract/billing-schemas.ts'
import { Field } from './field.tsx'

interface AddressFormProps {
  readonly base: string
  readonly details: BillingDetails
}

/** Beside the country, as `updateAddress` and browsers call them. */
const LINES = [
  { name: 'line1', label: 'Address', maxlength: 200, autocomplete: 'address-line1' },
  { name: 'line2', label: 'Second line', maxlength: 200, autocomplete: 'address-line2' },
  { name: 'city', label: 'City', maxlength: 100, autocomplete: 'address-level2' },
  { name: 'state', label: 'State or region', maxlength: 100, autocomplete: 'address-level1' },
  { name: 'postal_code', label: 'Postal code', maxlength: 20, autocomplete: 'postal-code' },
] as const

/** What stands on invoices. */
export function AddressForm({ base, details }: AddressFormProps) {
  const { name, email, address } = details
  const values = { ...address, postal_code: address?.postalCode }
  return (
    <section class="card" aria-labelledby="address">
      <h2 id="address">On your invoices</h2>
      <p class="soft">{[name, email].filter((text) => text !== null).join(', ')}</p>
      <form class="stack" method="post" action={`${base}/app/billing/address`}>
        {LINES.map((line) => (
          <Field {...line} value={values[line.name] ?? ''} />
        ))}
        <Field
          name="country"
          label="Country"
          value={address?.country ?? ''}
          hint="Two letters, such as GB"
          maxlength={2}
          autocomplete="country"
          required
        />
        <button type="submit" class="quiet">
          Save the address
        </button>
      </form>
    </section>
  )
}
