import type { TaxIdBody } from '../../contract/billing/billing-account-bodies.ts'
import type { TaxId } from '../../contract/billing/billing-schemas.ts'
import { ApiError } from '../../parts/errors.ts'
import type { Actor, Billing } from '../billing.ts'
import { MAX_PAGE, type Stripe } from '../stripe/stripe-calls.ts'
import { ifInvalid, ifMissing } from '../stripe/stripe-refusal.ts'
import { withAccount } from './account.ts'

export function listTaxIds(billing: Billing, userId: string): Promise<TaxId[]> {
  return withAccount(billing, userId, readTaxIds)
}

/** A page is more than a customer needs: an invoice shows only five. */
async function readTaxIds(stripe: Stripe, customer: string): Promise<TaxId[]> {
  return (await stripe.customers.listTaxIds(customer, { limit: MAX_PAGE })).data.map(toTaxId)
}

/** Adds the tax id, or returns the existing one if the user already has it. */
export function addTaxId(billing: Billing, actor: Actor, body: TaxIdBody): Promise<TaxId> {
  const { type } = body
  const value = body.value.trim()
  return withAccount(billing, actor.userId, (stripe, customer) =>
    billing.enqueue(actor.userId, async () => {
      const known = await readTaxIds(stripe, customer)
      const same = known.find(
        (one) => one.type === type && lettersAndDigits(one.value) === lettersAndDigits(value),
      )
      if (same !== undefined) return same
      const added = await stripe.customers
        .createTaxId(customer, { type, value })
        .catch(ifInvalid('The tax id is not valid'))
      // The audit log omits the value, which may identify a person.
      const target = { targetType: 'tax_id', targetId: added.id, detail: added.type }
      await billing.change([actor.audit({ action: 'add_tax_id', ...target })])
      return toTaxId(added)
    }),
  )
}

/** Throws NOT_FOUND unless the tax id belongs to the user. */
export function deleteTaxId(billing: Billing, actor: Actor, id: string): Promise<void> {
  return withAccount(billing, actor.userId, async (stripe, customer) => {
    const known = await readTaxIds(stripe, customer)
    if (!known.some((one) => one.id === id)) throw new ApiError('NOT_FOUND', 'Tax id not found')
    // It is gone if an attempt that was not answered has deleted it.
    await stripe.customers.deleteTaxId(customer, id).catch(ifMissing(null))
    const note = { action: 'delete_tax_id', targetType: 'tax_id', targetId: id } as const
    await billing.change([actor.audit(note)])
  })
}

function toTaxId({ id, type, value, verification }: Stripe.TaxId): TaxId {
  return { id, type, value, status: verification?.status ?? null }
}

/** Compares only letters and digits, because Stripe keeps a value as the user wrote it. */
function lettersAndDigits(value: string): string {
  return value.replaceAll(/[^\p{L}\p{N}]/gu, '').toUpperCase()
}
