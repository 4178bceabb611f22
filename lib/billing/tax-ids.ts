import type Stripe from 'stripe'
import type { TaxIdBody } from '../contract/billing-account-bodies.ts'
import type { TaxId } from '../contract/billing-schemas.ts'
import { ApiError } from '../errors.ts'
import type { Actor } from './actor.ts'
import type { Billing } from './billing.ts'
import { invalidAs, isMissing, type StripeCalls } from './stripe-calls.ts'
import { withAccount } from './with-account.ts'

/** Of one customer; Stripe shows five on an invoice. */
const MOST = 100
const ID = /^txi_\w{1,250}$/

export function listTaxIds(billing: Billing, userId: string): Promise<TaxId[]> {
  return withAccount(billing, userId, async (calls, customer) => {
    const rows = await listRows(calls, customer)
    return rows.map(toTaxId)
  })
}

/** Adds the tax id unless the user has it: asking twice does not make two. */
export function addTaxId(billing: Billing, actor: Actor, body: TaxIdBody): Promise<TaxId> {
  const value = body.value.trim()
  return withAccount(billing, actor.userId, (calls, customer) =>
    billing.inTurn(actor.userId, async () => {
      const rows = await listRows(calls, customer)
      const same = rows.find((row) => row.type === body.type && isSameValue(row.value, value))
      if (same !== undefined) return toTaxId(same)
      const added = await calls
        .write((stripe, options) =>
          stripe.customers.createTaxId(customer, toParams(body.type, value), options),
        )
        .catch(invalidAs('The tax id is not valid'))
      await billing.change([actor.audit({ action: 'add_tax_id', ...targetOf(added) })])
      return toTaxId(added)
    }),
  )
}

/** Throws NOT_FOUND for what is no tax id of the user. */
export function deleteTaxId(billing: Billing, actor: Actor, id: string): Promise<void> {
  return withAccount(billing, actor.userId, async (calls, customer) => {
    if (!ID.test(id)) throw notFound()
    await calls
      .write((stripe, options) => stripe.customers.deleteTaxId(customer, id, {}, options))
      .catch((error) => {
        throw isMissing(error) ? notFound() : error
      })
    const target = { targetType: 'tax_id', targetId: id, detail: null }
    await billing.change([actor.audit({ action: 'delete_tax_id', ...target })])
  })
}

async function listRows(calls: StripeCalls, customer: string): Promise<Stripe.TaxId[]> {
  const { data } = await calls.read((stripe, options) =>
    stripe.customers.listTaxIds(customer, { limit: MOST }, options),
  )
  return data
}

/** Stripe keeps a value as it was written. */
function isSameValue(one: string, other: string): boolean {
  return plain(one) === plain(other)
}

function plain(value: string): string {
  return value.replaceAll(/[^\p{L}\p{N}]/gu, '').toUpperCase()
}

function toParams(type: string, value: string): Stripe.CustomerCreateTaxIdParams {
  return { type, value }
}

/** Without the value, which may be that of a person. */
function targetOf({ id, type }: Stripe.TaxId) {
  return { targetType: 'tax_id', targetId: id, detail: type }
}

function toTaxId({ id, type, value, verification }: Stripe.TaxId): TaxId {
  return { id, type, value, status: verification?.status ?? null }
}

function notFound(): ApiError {
  return new ApiError('NOT_FOUND', 'Tax id not found')
}
