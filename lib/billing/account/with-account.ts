import type { AuditAction } from '../../contract/account/audit-actions.ts'
import { ApiError } from '../../parts/errors.ts'
import type { Actor, Billing } from '../billing.ts'
import type { StripeGateway } from '../stripe/gateway.ts'
import { isMissing } from '../stripe/stripe-refusal.ts'
import { findCustomer } from '../subscription/customers.ts'

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

function noAccount(): ApiError {
  return new ApiError(
    'NO_BILLING_ACCOUNT',
    'There is no billing account: subscribe to a plan first',
  )
}
