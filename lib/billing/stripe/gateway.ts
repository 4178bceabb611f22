import { checkoutCalls } from './checkout.ts'
import { customerCalls } from './customers.ts'
import { discountCalls } from './discounts.ts'
import { leftoverCalls } from './leftovers.ts'
import { newCustomerCalls } from './new-customers.ts'
import { overageCalls } from './overages.ts'
import { paymentMethodCalls } from './payment-methods.ts'
import { priceChangeCalls } from './price-changes.ts'
import { priceCalls } from './prices.ts'
import { beginCalls } from './stripe-calls.ts'
import { subscriptionCalls } from './subscriptions.ts'
import { taxIdCalls } from './tax/tax-ids.ts'

/** All our calls to Stripe, in our own terms; see `StripeCalls` for time limits and errors. */
export type StripeGateway = ReturnType<typeof openGateway>

/** Opens the gateway for one action. Its time limit starts now. */
export function openGateway(...options: Parameters<typeof beginCalls>) {
  const calls = beginCalls(...options)
  return {
    ...newCustomerCalls(calls),
    ...customerCalls(calls),
    ...taxIdCalls(calls),
    ...subscriptionCalls(calls),
    ...priceChangeCalls(calls),
    ...leftoverCalls(calls),
    ...checkoutCalls(calls),
    ...paymentMethodCalls(calls),
    ...discountCalls(calls),
    ...priceCalls(calls),
    ...overageCalls(calls),
  }
}
