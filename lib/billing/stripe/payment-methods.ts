import type Stripe from 'stripe'
import { ApiError } from '../../parts/errors.ts'
import { getCustomer } from './customers.ts'
import { idOf } from './stripe-calls.ts'
import { ConfirmationNeeded, ifMissing, ifRefused } from './stripe-refusal.ts'

/** The customer and subscription whose payment method changes. */
interface Payer {
  readonly customerId: string
  readonly subscriptionId: string
}

const NOT_USABLE = 'The payment method is unknown or cannot be used'

/** The method that pays the next invoice: the subscription's or, if it has none, the customer's. */
export async function findPayingMethod(
  stripe: Stripe,
  customerId: string,
  subscriptionId: string | undefined,
) {
  const own = subscriptionId === undefined ? null : await findOwn(stripe, subscriptionId)
  return own ?? (await findShared(stripe, customerId))
}

/**
 * Pays the invoices with the method, and makes it the customer's, which pays for the subscription. Attaches it
 * to the customer if it is new. If it is declined, throws PAYMENT_FAILED and keeps the old method. An invoice
 * that the bank wants confirmed stays open.
 */
export async function payWith(
  stripe: Stripe,
  payer: Payer,
  invoices: readonly string[],
  methodId: string,
): Promise<void> {
  const method = await attach(stripe, methodId, payer.customerId)
  for (const invoice of invoices) {
    const params = { payment_method: method, off_session: false }
    await stripe.invoices.pay(invoice, params).catch((error) => {
      if (!(error instanceof ConfirmationNeeded)) throw error
    })
  }
  await share(stripe, payer, method)
}

/**
 * Lets the customer's method pay for the subscription, whose own one Checkout has set: a card that is added
 * in the portal is only the customer's. The newer of both stays.
 */
export async function shareMethod(stripe: Stripe, payer: Payer): Promise<void> {
  const own = await findOwn(stripe, payer.subscriptionId)
  const isNewer = createdAt(own) >= createdAt(await findShared(stripe, payer.customerId))
  await share(stripe, payer, isNewer && own !== null ? idOf(own) : null)
}

/** Makes the method the customer's, unless it is null, and removes that of the subscription. */
async function share(
  stripe: Stripe,
  { customerId, subscriptionId }: Payer,
  method: string | null,
): Promise<void> {
  if (method !== null) {
    const settings = { default_payment_method: method }
    await stripe.customers.update(customerId, { invoice_settings: settings })
  }
  await stripe.subscriptions.update(subscriptionId, { default_payment_method: '' })
}

/** In seconds since 1970; 0 without an expanded method. */
function createdAt(method: string | Stripe.PaymentMethod | null): number {
  return typeof method === 'object' && method !== null ? method.created : 0
}

/** The subscription's own method; null if it has none, or if Stripe does not know the subscription. */
async function findOwn(stripe: Stripe, id: string) {
  const expand = ['default_payment_method']
  const found = await stripe.subscriptions.retrieve(id, { expand }).catch(ifMissing(null))
  return found?.default_payment_method ?? null
}

/** The customer's default method. */
async function findShared(stripe: Stripe, id: string) {
  const customer = await getCustomer(stripe, id, ['invoice_settings.default_payment_method'])
  return customer.invoice_settings.default_payment_method
}

/** Attaches the method to the customer unless it is attached already. Returns its id. */
async function attach(stripe: Stripe, id: string, customer: string): Promise<string> {
  const refuse = ifRefused(NOT_USABLE)
  const method = await stripe.paymentMethods.retrieve(id).catch(refuse)
  if (method.customer === null) {
    return (await stripe.paymentMethods.attach(method.id, { customer }).catch(refuse)).id
  }
  if (idOf(method.customer) !== customer) throw new ApiError('BAD_REQUEST', NOT_USABLE)
  return method.id
}
