import type { BillingDetails } from '../../lib/contract/billing-schemas.ts'
import { Field } from './field.tsx'

interface AddressFormProps {
  readonly base: string
  readonly details: BillingDetails
}

/** What stands on invoices. */
export function AddressForm({ base, details }: AddressFormProps) {
  const { name, email, address } = details
  return (
    <section class="card" aria-labelledby="address">
      <h2 id="address">On your invoices</h2>
      <p class="soft">{[name, email].filter((text) => text !== null).join(', ')}</p>
      <form class="stack" method="post" action={`${base}/app/billing/address`}>
        <Field
          name="line1"
          label="Address"
          value={address?.line1 ?? ''}
          maxlength={200}
          autocomplete="address-line1"
          required
        />
        <Field
          name="line2"
          label="Second line"
          value={address?.line2 ?? ''}
          maxlength={200}
          autocomplete="address-line2"
        />
        <Field
          name="city"
          label="City"
          value={address?.city ?? ''}
          maxlength={100}
          autocomplete="address-level2"
        />
        <Field
          name="state"
          label="State or region"
          value={address?.state ?? ''}
          maxlength={100}
          autocomplete="address-level1"
        />
        <Field
          name="postal_code"
          label="Postal code"
          value={address?.postalCode ?? ''}
          maxlength={20}
          autocomplete="postal-code"
        />
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
