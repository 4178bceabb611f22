import type { AuditAction } from '../contract/account/audit-actions.ts'
import type { TaxIdBody } from '../contract/billing/billing-account-bodies.ts'
import type {
  ActiveDiscount,
  Discount,
  PaymentMethodInfo,
  TaxId,
} from '../contract/billing/billing-schemas.ts'
import { ApiError } from '../parts/errors.ts'
import type { Actor, Billing } from './billing.ts'
import type { StripeGateway } from './stripe/gateway.ts'
import { ifMissing, isMissing, unavailable } from './stripe/stripe-refusal.ts'
import { findCustomer } from './subscription/customers.ts'
import { findSubscription, toNote } from './subscription/subscriptions.ts'
import { auditSync, sync } from './subscription/sync.ts'
import { withSubscription, withUnpaidSubscription } from './subscription/with-subscription.ts'

/**
 * Runs `work` on the user's customer at Stripe. Throws NO_BILLING_ACCOUNT if the user has no customer
 * (without asking Stripe), or if Stripe reports that an object does not exist.
 */
export async function withAccount<Result>(
  billing: Billing,
  userId: string,
  work: (stripe: StripeGateway, customerId: string) => Promise<Result>,
): Promise<Result> {
  const customer = await findCustomer(billing.db, userId)
  if (customer === null) throw noAccount()
  const stripe = billing.openStripe()
  try {
    return await work(stripe, customer.customerId)
  } catch (error) {
    throw isMissing(error) ? noAccount() : error
  }
}

/** Like `withAccount`, but also writes an audit row after `work`. */
export function changeAccount<Result>(
  billing: Billing,
  actor: Actor,
  action: AuditAction,
  work: (stripe: StripeGateway, customerId: string) => Promise<Result>,
): Promise<Result> {
  return withAccount(billing, actor.userId, async (stripe, customerId) => {
    const result = await work(stripe, customerId)
    const note = { action, targetType: 'customer', targetId: customerId }
    await billing.change([actor.audit(note)])
    return result
  })
}

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
    const known = await stripe.listTaxIds(customer)
    if (!known.some((one) => one.id === id)) throw new ApiError('NOT_FOUND', 'Tax id not found')
    await stripe.deleteTaxId(customer, id)
    const note = { action: 'delete_tax_id', targetType: 'tax_id', targetId: id } as const
    await billing.change([actor.audit(note)])
  })
}

/** Returns the payment method for the user's next invoice. */
export function getPaymentMethod(billing: Billing, userId: string): Promise<PaymentMethodInfo> {
  return withAccount(billing, userId, async (stripe, customer) => {
    const subscription = await findSubscription(billing.db, userId)
    return stripe.getPaymentMethod(customer, subscription?.id)
  })
}

/** Returns the client secret with which Stripe's form adds a payment method. */
export function createSetupIntent(billing: Billing, actor: Actor): Promise<string> {
  // Without a Stripe key, even a user without a customer gets BILLING_NOT_CONFIGURED.
  billing.openStripe()
  return changeAccount(billing, actor, 'create_setup_intent', (stripe, customer) =>
    stripe.createSetupIntent(customer),
  )
}

/**
 * Pays the open invoices with the payment method, and makes it the customer's, which pays from then on.
 * Throws PAYMENT_FAILED, and keeps the old one, if it is declined.
 */
export function setPaymentMethod(billing: Billing, actor: Actor, id: string): Promise<void> {
  const { userId } = actor
  return withUnpaidSubscription(billing, userId, async (stripe, row) => {
    const customer = await findCustomer(billing.db, userId)
    if (customer === null) throw unavailable()
    const { customerId } = customer
    const { invoices } = await stripe.findUnpaid(row.id)
    await stripe.setPaymentMethod({ customerId, subscriptionId: row.id }, invoices, id)
    await sync(billing, stripe, userId, (result) => [
      actor.audit(toNote('set_payment_method', row)),
      ...auditSync(billing, userId, result),
    ])
  })
}

/** The discount of the subscription or, if it has none, of the customer; {} if neither has one. */
export async function findDiscount(
  billing: Billing,
  userId: string,
  now: number,
): Promise<ActiveDiscount> {
  const customer = await findCustomer(billing.db, userId)
  if (customer === null || !billing.isConfigured) return {}
  const subscription = await findSubscription(billing.db, userId)
  const found = billing.openStripe().findDiscount(customer.customerId, subscription?.id, now)
  return (await found.catch(ifMissing(undefined))) ?? {}
}

/**
 * Gives the subscription the discount of the promotion code. If that discount is already active, nothing
 * changes: entering the code again does not extend it. Throws BAD_REQUEST if the code is unknown, has expired,
 * was used before, or is not for this subscription, or if another discount is active.
 */
export function applyPromotion(billing: Billing, actor: Actor, code: string): Promise<Discount> {
  return withSubscription(billing, actor.userId, async (stripe, row) => {
    const { discount, applied } = await stripe.applyPromotion(row.id, code.trim(), actor.now)
    if (applied !== null) {
      await billing.change([actor.audit(toNote('apply_promo', row, applied))])
    }
    return discount
  })
}

function noAccount(): ApiError {
  return new ApiError(
    'NO_BILLING_ACCOUNT',
    'There is no billing account: subscribe to a plan first',
  )
}

/** Compares only letters and digits, because Stripe keeps a value as the user wrote it. */
function lettersAndDigits(value: string): string {
  return value.replaceAll(/[^\p{L}\p{N}]/gu, '').toUpperCase()
}
