import type Stripe from 'stripe'
import type { PaymentMethodInfo } from '../../contract/billing/billing-schemas.ts'
import { ApiError } from '../../parts/errors.ts'
import { getCustomer } from './customers.ts'
import { idOf, type StripeCalls } from './stripe-calls.ts'
import { ConfirmationNeeded, ifMissing, ifRefused, unavailable } from './stripe-refusal.ts'

/** The customer and subscription whose payment method changes. */
interface Payer {
  readonly customerId: string
  readonly subscriptionId: string
}

const NOT_USABLE = 'The payment method is unknown or cannot be used'
const OF_SUBSCRIPTION = 'default_payment_method'
const OF_CUSTOMER = 'invoice_settings.default_payment_method'

export function paymentMethodCalls(calls: StripeCalls) {
  const { write } = calls
  const pay = async (invoice: string, method: string): Promise<void> => {
    const params = { payment_method: method, off_session: false }
    try {
      await write((sdk, options) => sdk.invoices.pay(invoice, params, options))
    } catch (error) {
      if (!(error instanceof ConfirmationNeeded)) throw error
    }
  }
  /** Makes the method the customer's, unless it is null, and removes that of the subscription. */
  const share = async ({ customerId, subscriptionId }: Payer, method: string | null) => {
    if (method !== null) {
      const settings = { invoice_settings: { default_payment_method: method } }
      await write((sdk, options) => sdk.customers.update(customerId, settings, options))
    }
    const none = { default_payment_method: '' }
    await write((sdk, options) => sdk.subscriptions.update(subscriptionId, none, options))
  }
  return {
    /** The method that pays the next invoice: the subscription's or, if it has none, the customer's. */
    getPaymentMethod: async (
      customerId: string,
      subscriptionId: string | undefined,
    ): Promise<PaymentMethodInfo> => {
      const customer = await getCustomer(calls, customerId, [OF_CUSTOMER])
      const own = subscriptionId === undefined ? null : await getOwnDefault(calls, subscriptionId)
      return toInfo(own ?? customer.invoice_settings.default_payment_method)
    },

    /** Returns the client secret for Stripe's form. */
    createSetupIntent: async (customer: string): Promise<string> => {
      const params = {
        customer,
        usage: 'off_session',
        automatic_payment_methods: { enabled: true },
      } as const
      const intent = await write((sdk, options) => sdk.setupIntents.create(params, options))
      if (intent.client_secret === null) throw unavailable()
      return intent.client_secret
    },

    /**
     * Lets the customer's method pay for the subscription, whose own one Checkout has set: a card that is added
     * in the portal is only the customer's. The newer of both stays.
     */
    shareMethod: async (customerId: string, subscriptionId: string): Promise<void> => {
      const own = await getOwnDefault(calls, subscriptionId)
      const customer = await getCustomer(calls, customerId, [OF_CUSTOMER])
      const isNewer = createdAt(own) >= createdAt(customer.invoice_settings.default_payment_method)
      await share({ customerId, subscriptionId }, isNewer && own !== null ? idOf(own) : null)
    },

    /**
     * Pays the open invoices with the method, and makes it the customer's, which pays for the subscription.
     * Attaches it to the customer if it is new. If it is declined, throws PAYMENT_FAILED and keeps the old
     * method. An invoice that the bank wants confirmed stays open.
     */
    setPaymentMethod: async (
      payer: Payer,
      invoices: readonly string[],
      methodId: string,
    ): Promise<void> => {
      const method = await getOwnMethod(calls, methodId, payer.customerId)
      for (const invoice of invoices) await pay(invoice, method)
      await share(payer, method)
    },
  }
}

/** In seconds since 1970; 0 without an expanded method. */
function createdAt(method: string | Stripe.PaymentMethod | null): number {
  return typeof method === 'object' && method !== null ? method.created : 0
}

/** The subscription's own method; null if it has none, or if Stripe does not know the subscription. */
async function getOwnDefault({ read }: StripeCalls, id: string) {
  const subscription = await read((sdk, options) =>
    sdk.subscriptions.retrieve(id, { expand: [OF_SUBSCRIPTION] }, options),
  ).catch(ifMissing(null))
  return subscription?.default_payment_method ?? null
}

/** Attaches the method to the customer unless it is attached already. Returns its id. */
async function getOwnMethod(
  { read, write }: StripeCalls,
  id: string,
  customer: string,
): Promise<string> {
  const refuse = ifRefused(NOT_USABLE)
  const method = await read((sdk, options) => sdk.paymentMethods.retrieve(id, {}, options)).catch(
    refuse,
  )
  if (method.customer === null) {
    const attached = await write((sdk, options) =>
      sdk.paymentMethods.attach(method.id, { customer }, options),
    ).catch(refuse)
    return attached.id
  }
  if (idOf(method.customer) !== customer) throw new ApiError('BAD_REQUEST', NOT_USABLE)
  return method.id
}

/** For a method other than a card, `brand` is its type, and the expiry is null. */
function toInfo(method: string | Stripe.PaymentMethod | null): PaymentMethodInfo {
  const none = { brand: null, last4: null, expMonth: null, expYear: null }
  if (method === null || typeof method === 'string') return none
  const { card, type: brand } = method
  if (card === undefined) return { ...none, brand, last4: lastDigits(method) }
  const { exp_month: expMonth, exp_year: expYear } = card
  return { brand: card.brand, last4: card.last4, expMonth, expYear }
}

function lastDigits(method: Stripe.PaymentMethod): string | null {
  const { sepa_debit, us_bank_account, bacs_debit, acss_debit, au_becs_debit } = method
  const account = sepa_debit ?? us_bank_account ?? bacs_debit ?? acss_debit ?? au_becs_debit
  return account?.last4 ?? null
}
