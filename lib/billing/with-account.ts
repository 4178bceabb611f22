import { ApiError } from '../errors.ts'
import type { Billing } from './billing.ts'
import { findCustomer } from './customers.ts'
import { isMissing, type StripeCalls } from './stripe-calls.ts'

/**
 * Does `work` on the user as a customer of the payment processor. Throws NO_BILLING_ACCOUNT where the
 * user is none, without asking, and where the customer or something of it turns out to be gone.
 */
export async function withAccount<Result>(
  billing: Billing,
  userId: string,
  work: (calls: StripeCalls, customerId: string) => Promise<Result>,
): Promise<Result> {
  const customer = await findCustomer(billing.db, userId)
  if (customer === null) throw noAccount()
  const calls = billing.begin()
  try {
    return await work(calls, customer.customerId)
  } catch (error) {
    throw isMissing(error) ? noAccount() : error
  }
}

export function noAccount(): ApiError {
  return new ApiError(
    'NO_BILLING_ACCOUNT',
    'There is no billing account: subscribe to a plan first',
  )
}
