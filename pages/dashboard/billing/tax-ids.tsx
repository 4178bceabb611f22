import type { TaxId } from '../../../lib/contract/billing/billing-schemas.ts'
import { Card } from '../parts/card.tsx'
import { Field } from '../parts/field.tsx'
import { Form, PostButton } from '../parts/form.tsx'
import type { PageProps } from '../parts/notice.tsx'
import type { TypedFields } from './address-form.tsx'

/** The types that are suggested; Stripe has more. */
const TYPES = {
  eu_vat: 'VAT number of the European Union',
  gb_vat: 'VAT number of the United Kingdom',
  ch_vat: 'VAT number of Switzerland',
  no_vat: 'VAT number of Norway',
  us_ein: 'EIN of the United States',
  ca_bn: 'Business number of Canada',
  au_abn: 'Business number of Australia',
  in_gst: 'GST number of India',
  jp_trn: 'Registration number of Japan',
  br_cnpj: 'CNPJ of Brazil',
}

interface TaxIdsProps extends Pick<PageProps, 'base' | 'problem'> {
  readonly taxIds: readonly TaxId[]
  /** What was refused, by the names of its fields. */
  readonly typed?: TypedFields | undefined
}

export function TaxIds({ base, taxIds, typed, problem }: TaxIdsProps) {
  return (
    <Card id="tax-ids" title="Tax IDs">
      {taxIds.length === 0 ? (
        <p class="soft">No tax IDs.</p>
      ) : (
        <ul class="plain">
          {taxIds.map(({ id, type, value, status }) => (
            <li class="item-head">
              <span>
                <code>{value}</code> <span class="soft">{[type, status].join(', ')}</span>
              </span>
              <PostButton
                action={`${base}/app/billing/tax-ids/${encodeURIComponent(id)}/remove`}
                text="Remove"
                kind="quiet"
                label={`Remove ${value}`}
              />
            </li>
          ))}
        </ul>
      )}
      <Form action={`${base}/app/billing/tax-ids`} text="Add" kind="quiet">
        <Field
          name="type"
          label="Type"
          value={typed?.['type'] ?? ''}
          hint="A type of Stripe, such as eu_vat or gb_vat"
          list="tax-id-types"
          maxlength={32}
          autocomplete="off"
          problem={problem}
          required
        />
        <Field
          name="value"
          label="Number"
          value={typed?.['value'] ?? ''}
          maxlength={64}
          autocomplete="off"
          problem={problem}
          required
        />
        <datalist id="tax-id-types">
          {Object.entries(TYPES).map(([type, name]) => (
            <option value={type}>{name}</option>
          ))}
        </datalist>
      </Form>
    </Card>
  )
}
