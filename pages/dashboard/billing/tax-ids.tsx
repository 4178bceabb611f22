import type { TaxId } from '../../../lib/contract/billing/billing-schemas.ts'
import { Card } from '../parts/card.tsx'
import { Field } from '../parts/field.tsx'
import { Form, PostButton } from '../parts/form.tsx'
import type { PageProps } from '../parts/notice.tsx'

interface TaxIdsProps extends Pick<PageProps, 'base' | 'problem'> {
  readonly taxIds: readonly TaxId[]
}

export function TaxIds({ base, taxIds, problem }: TaxIdsProps) {
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
          hint="A tax ID type of Stripe, such as eu_vat or gb_vat"
          maxlength={32}
          autocomplete="off"
          problem={problem}
          required
        />
        <Field
          name="value"
          label="Number"
          maxlength={64}
          autocomplete="off"
          problem={problem}
          required
        />
      </Form>
    </Card>
  )
}
