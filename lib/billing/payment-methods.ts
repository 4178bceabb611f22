import type Stripe from 'stripe'
import type { PaymentMethodInfo } from '../contract/billing-schemas.ts'
import { ApiError } from '../errors.ts'
import type { Actor } from './actor.ts'
import type { Billing } from './billing.ts'
import { findCustomer } from './customers.ts'
import { refusedAs, type StripeCalls, unavailable } from './stripe-calls.ts'
import { findSubscription } from './subscriptions.ts'
import { noAccount, withAccount } from './with-account.ts'
import { withSubscription } from './with-subscription.ts'

const NOT_USABLE = 'The payment method is not known, or cannot be used'

/** What the next invoice is paid with: the method of the subscription before that of the customer. */
export function getPaymentMethod(billing: Billing, userId: string): Promise<PaymentMethodInfo> {
  const expand = [
    'invoice_settings.default_payment_method',
    'subscriptions.data.default_payment_method',
  ]
  return withAccount(billing, userId, async (calls, id) => {
    const customer = await calls.read((stripe, options) =>
      stripe.customers.retrieve(id, { expand }, options),
    )
    if (customer.deleted) throw noAccount()
    const subscription = await findSubscription(billing.db, userId)
    const told = customer.subscriptions?.data.find((one) => one.id === subscription?.id)
    return toInfo(told?.default_payment_method ?? customer.invoice_settings.default_payment_method)
  })
}

/** Begins to add a method. Returns the secret for the form of the payment processor. */
export function createSetupIntent(billing: Billing, actor: Actor): Promise<string> {
  // Before anything else: whoever is no customer is told as well that nothing is sold.
  billing.begin()
  return withAccount(billing, actor.userId, async (calls, customer) => {
    const intent = await calls.write((stripe, options) =>
      stripe.setupIntents.create(
        { customer, usage: 'off_session', automatic_payment_methods: { enabled: true } },
        options,
      ),
    )
    if (intent.client_secret === null) throw unavailable()
    const target = { targetType: 'customer', targetId: customer, detail: null }
    await billing.change([actor.audit({ action: 'create_setup_intent', ...target })])
    return intent.client_secret
  })
}

/** Makes it the default of the subscription and of the customer; attaches it where it is nobody's. */
export function setPaymentMethod(billing: Billing, actor: Actor, id: string): Promise<void> {
  return withSubscription(billing, actor.userId, async (calls, subscription) => {
    const customer = await findCustomer(billing.db, actor.userId)
    if (customer === null) throw unavailable()
    const method = await getOwnMethod(calls, id, customer.customerId)
    const change = { default_payment_method: method }
    await calls.write((stripe, options) =>
      stripe.subscriptions.update(subscription.id, change, options),
    )
    await calls.write((stripe, options) =>
      stripe.customers.update(customer.customerId, { invoice_settings: change }, options),
    )
    const target = { targetType: 'subscription', targetId: subscription.id, detail: null }
    await billing.change([actor.audit({ action: 'set_payment_method', ...target })])
  })
}

/** The id of the method, which the customer then has. */
async function getOwnMethod(calls: StripeCalls, id: string, customer: string): Promise<string> {
  const method = await calls
    .read((stripe, options) => stripe.paymentMethods.retrieve(id, {}, options))
    .catch(refusedAs('BAD_REQUEST', NOT_USABLE))
  if (method.customer === null) {
    const attached = await calls
      .write((stripe, options) => stripe.paymentMethods.attach(method.id, { customer }, options))
      .catch(refusedAs('BAD_REQUEST', NOT_USABLE))
    return attached.id
  }
  const owner = typeof method.customer === 'string' ? method.customer : method.customer.id
  if (owner !== customer) throw new ApiError('BAD_REQUEST', NOT_USABLE)
  return method.id
}

/** What is no card has its kind in the place of a brand, and no end. */
function toInfo(method: string | Stripe.PaymentMethod | null): PaymentMethodInfo {
  if (method === null || typeof method === 'string') {
    return { brand: null, last4: null, expMonth: null, expYear: null }
  }
  const { card, type } = method
  if (card === undefined) {
    return { brand: type, last4: lastDigits(method), expMonth: null, expYear: null }
  }
  return {
    brand: card.brand,
    last4: card.last4,
    expMonth: card.exp_month,
    expYear: card.exp_year,
  }
}

function lastDigits(method: Stripe.PaymentMethod): string | null {
  const { sepa_debit, us_bank_account, bacs_debit, acss_debit, au_becs_debit } = method
  const account = sepa_debit ?? us_bank_account ?? bacs_debit ?? acss_debit ?? au_becs_debit
  return account?.last4 ?? null
}
