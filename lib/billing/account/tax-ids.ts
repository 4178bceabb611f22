import type { TaxIdBody } from '../../contract/billing/billing-account-bodies.ts'
import type { TaxId } from '../../contract/billing/billing-schemas.ts'
import { ApiError } from '../../parts/errors.ts'
import type { Actor, Billing } from '../billing.ts'
import { withAccount } from './with-account.ts'

const ID = /^txi_\w{1,250}$/

/** Adds the tax id, or returns the existing one if the user already has it. */
export function addTaxId(billing: Billing, actor: Actor, body: TaxIdBody): Promise<TaxId> {
  const value = body.value.trim()
  return withAccount(billing, actor.userId, (stripe, customer) =>
    billing.enqueue(actor.userId, async () => {
      const known = await stripe.listTaxIds(customer)
      const same = known.find(
        (one) => one.type === body.type && lettersAndDigits(one.value) === lettersAndDigits(value),
      )
      if (same !== undefined) return same
      const added = await stripe.addTaxId(customer, { type: body.type, value })
      // The audit log omits the value, which may identify a person.
      const target = { targetType: 'tax_id', targetId: added.id, detail: added.type }
      await billing.change([actor.audit({ action: 'add_tax_id', ...target })])
      return added
    }),
  )
}

/** Throws NOT_FOUND unless the tax id belongs to the user. */
export function deleteTaxId(billing: Billing, actor: Actor, id: string): Promise<void> {
  return withAccount(billing, actor.userId, async (stripe, customer) => {
    if (!ID.test(id)) throw new ApiError('NOT_FOUND', 'Tax id not found')
    await stripe.deleteTaxId(customer, id)
    const note = { action: 'delete_tax_id', targetType: 'tax_id', targetId: id } as const
    await billing.change([actor.audit(note)])
  })
}

/** Compares only letters and digits, because Stripe keeps a value as the user wrote it. */
function lettersAndDigits(value: string): string {
  return value.replaceAll(/[^\p{L}\p{N}]/gu, '').toUpperCase()
}
