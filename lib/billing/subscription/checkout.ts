import type { Plan } from '../../config/plans.ts'
import type { CheckoutResponse } from '../../contract/billing/billing-schemas.ts'
import type { Interval } from '../../contract/billing/price-schemas.ts'
import { ApiError } from '../../parts/errors.ts'
import type { Actor, Billing } from '../billing.ts'
import { findStripeAccount } from '../mirror/stripe-account.ts'
import { getPrice } from '../plan-prices.ts'
import { type CheckoutOptions, closeCheckouts, openCheckout } from '../stripe/checkout.ts'
import { type Buyer, createCustomer } from '../stripe/new-customers.ts'
import type { Stripe } from '../stripe/stripe-calls.ts'
import { BillingUnavailable } from '../stripe/stripe-refusal.ts'
import { cancelNow } from '../stripe/subscriptions.ts'
import { explainCurrency } from './currency.ts'
import { deleteCustomer, findCustomer, insertCustomer, UnknownCustomer } from './customers.ts'
import { findSubscription, hasAccess } from './subscriptions.ts'
import { sync } from './sync.ts'
import { hasTried } from './trials.ts'

export interface CheckoutRequest extends Pick<CheckoutOptions, 'currency' | 'embedded' | 'pages'> {
  readonly plan: Plan
  readonly interval: Interval
  readonly buyer: Buyer
}

/** Opens a payment page for the plan. Throws ALREADY_SUBSCRIBED if the user pays for a plan. */
export async function startCheckout(
  billing: Billing,
  actor: Actor,
  { plan, interval, buyer, ...options }: CheckoutRequest,
): Promise<CheckoutResponse> {
  const { userId, now } = actor
  const stripe = billing.openStripe()
  const price = getPrice(billing.prices, plan, interval)
  return billing.enqueue(userId, async () => {
    const customerId = await prepareCustomer(billing, stripe, buyer, now)
    const { tax } = billing
    const trialDays = (await hasTried(billing, userId)) ? undefined : plan.trialDays
    const checkout = { userId, customerId, price, planId: plan.id, trialDays, tax, ...options }
    const opened = await openCheckout(stripe, checkout).catch(
      explainCurrency(stripe, price, options.currency, customerId),
    )
    const note = { action: 'create_checkout', targetType: 'plan', targetId: plan.id } as const
    await billing.change([actor.audit(note)])
    return opened
  })
}

/** Returns the buyer's customer, after closing its unpaid subscriptions and open payment pages. */
async function prepareCustomer(
  billing: Billing,
  stripe: Stripe,
  buyer: Buyer,
  now: number,
): Promise<string> {
  const { userId } = buyer
  const gone = new Set<string>()
  for (;;) {
    let customer = (await findCustomer(billing.db, userId))?.customerId
    if (customer === undefined) {
      const created = await createCustomer(stripe, buyer, gone)
      customer = await storeCustomer(billing, { userId, customerId: created, createdAt: now })
    }
    await closeUnpaid(billing, stripe, { userId, customer }).catch(releaseUnknown(billing, userId))
    if ((await findCustomer(billing.db, userId)) !== null) return customer
    // It was deleted at Stripe, perhaps with all test data.
    gone.add(customer)
  }
}

/**
 * For `catch`: gives up a customer that Stripe does not know and that pays for nothing here, if the account is
 * known to be ours. Otherwise throws the error.
 */
function releaseUnknown({ db, change }: Billing, userId: string) {
  return async (error: unknown): Promise<void> => {
    const isUnknown = error instanceof UnknownCustomer && (await findStripeAccount(db)) !== null
    const customer = await findCustomer(db, userId)
    if (!isUnknown || customer === null || (await findSubscription(db, userId)) !== null)
      throw error
    await change([deleteCustomer(db, customer)])
  }
}

/** Stores the customer. Returns the stored id: an event may have stored another in the meantime. */
async function storeCustomer(
  { db, change }: Billing,
  row: Parameters<typeof insertCustomer>[1],
): Promise<string> {
  if (await change([insertCustomer(db, row)])) return row.customerId
  const stored = await findCustomer(db, row.userId)
  if (stored === null) throw new BillingUnavailable()
  return stored.customerId
}

/** Closes open pages and unpaid subscriptions, so that nobody pays twice in two tabs. */
async function closeUnpaid(
  billing: Billing,
  stripe: Stripe,
  { userId, customer }: { readonly userId: string; readonly customer: string },
): Promise<void> {
  const allClosed = await closeCheckouts(stripe, customer)
  for (;;) {
    const { after, paysForUnknown, unpaid } = await sync(billing, stripe, userId)
    if (paysForUnknown || hasAccess(after)) {
      throw new ApiError('ALREADY_SUBSCRIBED', 'There is a subscription already: change its plan')
    }
    // If a page cannot be closed, somebody is paying on it.
    if (!allClosed) throw new BillingUnavailable()
    if (unpaid.length === 0) return
    for (const id of unpaid) await cancelNow(stripe, id)
  }
}
