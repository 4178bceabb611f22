import type { TaxId } from '../../lib/contract/billing-schemas.ts'
import { Field } from './field.tsx'

interface TaxIdsProps {
  readonly base: string
  readonly taxIds: readonly TaxId[]
}

export function TaxIds({ base, taxIds }: TaxIdsProps) {
  return (
    <section class="card" aria-labelledby="tax-ids">
      <h2 id="tax-ids">Tax ids</h2>
      {taxIds.length === 0 ? (
        <p class="soft">None.</p>
      ) : (
        <ul class="plain">
          {taxIds.map(({ id, type, value, status }) => (
            <li class="item-head">
              <span>
                <code>{value}</code> <span class="soft">{[type, status].join(', ')}</span>
              </span>
              <form
                method="post"
                action={`${base}/app/billing/tax-ids/${encodeURIComponent(id)}/remove`}
              >
                <button type="submit" class="quiet" aria-label={`Remove ${value}`}>
                  Remove
                </button>
              </form>
            </li>
          ))}
        </ul>
      )}
      <form class="stack" method="post" action={`${base}/app/billing/tax-ids`}>
        <Field
          name="type"
          label="Type"
          hint="As Stripe names it, such as eu_vat or gb_vat"
          maxlength={32}
          autocomplete="off"
          required
        />
        <Field name="value" label="Number" maxlength={64} autocomplete="off" required />
        <button type="submit" class="quiet">
          Add
        </button>
      </form>
    </section>
  )
}
