import { fieldError } from '../../parts/errors.ts'
import { getCustomer } from '../stripe/customers.ts'
import { getPrice } from '../stripe/prices.ts'
import type { Stripe } from '../stripe/stripe-calls.ts'
import { isMissing, StripeRefusal } from '../stripe/stripe-refusal.ts'

/**
 * For `catch`: throws BAD_REQUEST if Stripe refused because of the currency, otherwise the error itself.
 * Stripe has no error code for this, so we read which currencies the price and the customer allow.
 */
export function explainCurrency(
  stripe: Stripe,
  price: string,
  currency: string | null | undefined,
  customerId?: string,
) {
  return async (error: unknown): Promise<never> => {
    if (!(error instanceof StripeRefusal) || isMissing(error) || !currency) throw error
    const sold = await getPrice(stripe, price)
    if (![sold, ...sold.currencies].some((one) => one.currency === currency)) {
      throw fieldError('currency', `the plan is not sold in ${currency}`)
    }
    const own = customerId && (await getCustomer(stripe, customerId)).currency
    if (!own || own === currency) throw error
    throw fieldError('currency', `this account pays in ${own}`)
  }
}
