import type Stripe from 'stripe'
import type { Period } from './billing/period.ts'

/**
 * What happens when the card of a payment method is charged. Banks that ask want the customer to
 * confirm the payment (3-D Secure): always, or until the customer has confirmed once.
 */
export type CardBehaviour = 'pays' | 'declines' | 'asks' | 'asks-once' | 'asks-then-declines'

/** What happens to a subscription when the last attempt to collect its invoice has failed. */
export type DunningEnd = 'canceled' | 'unpaid'

/**
 * The end of dunning, and the days from each failed attempt to the next one.
 * "1 week, 2 weeks, 3 weeks, 1 month, or 2 months. The recommended default is 8 tries within 2 weeks":
 * https://docs.stripe.com/payments/off-session-payments/smart-retries
 */
export interface Dunning {
  readonly end: DunningEnd
  readonly retryDays: readonly number[]
}

export const DUNNING: Dunning = { end: 'canceled', retryDays: [1, 1, 2, 2, 2, 2, 2, 2] }

/** A charge for an item, net of discounts, in cents. Credits are computed from it. */
interface Debit extends Period {
  readonly net: number
  /** When a later charge took its place. */
  readonly until: number
}

interface MeterReading {
  readonly eventName: string
  readonly customer: string
  readonly value: number
  readonly timestamp: number
  /** When Stripe has processed it. */
  readonly countedFrom: number
}

/** A change of a subscription that takes effect once its invoice is paid. */
interface PendingChange {
  /** When its new period begins; undefined if it begins none. */
  readonly anchor: number | undefined
  readonly invoice: string
  readonly items: readonly Stripe.SubscriptionItem[]
  readonly metadata: Stripe.Metadata
  readonly prorations: readonly Stripe.InvoiceLineItem[]
  /** When it ends the trial; undefined if it does not. */
  readonly trialEnd: number | undefined
}

/** What a checkout session sells, and what its subscription inherits. */
interface Order {
  readonly lines: readonly { readonly price: Stripe.Price; readonly quantity: number }[]
  readonly metadata: Stripe.Metadata
  /** Whether the customer gets the address that is entered. */
  readonly keepsAddress: boolean
  readonly trialDays: number | undefined
  readonly currency: string
}

/** Everything that the double knows, in memory only. */
export type State = ReturnType<typeof createState>

export function createState() {
  return {
    /** Stripe's objects by id. */
    tables: {
      customers: new Map<string, Stripe.Customer>(),
      products: new Map<string, Stripe.Product>(),
      prices: new Map<string, Stripe.Price>(),
      coupons: new Map<string, Stripe.Coupon>(),
      promotionCodes: new Map<string, Stripe.PromotionCode>(),
      discounts: new Map<string, Stripe.Discount>(),
      taxIds: new Map<string, Stripe.TaxId>(),
      paymentMethods: new Map<string, Stripe.PaymentMethod>(),
      setupIntents: new Map<string, Stripe.SetupIntent>(),
      sessions: new Map<string, Stripe.Checkout.Session>(),
      portalSessions: new Map<string, Stripe.BillingPortal.Session>(),
      subscriptions: new Map<string, Stripe.Subscription>(),
      invoices: new Map<string, Stripe.Invoice>(),
      meters: new Map<string, Stripe.Billing.Meter>(),
      testClocks: new Map<string, Stripe.TestHelpers.TestClock>(),
    },
    deletedIds: new Map<string, string>(),
    /** By payment method. */
    cards: new Map<string, CardBehaviour>(),
    /** By coupon: the products it is valid for, which Stripe shows only when expanded. */
    couponProducts: new Map<string, Stripe.Coupon.AppliesTo>(),
    /** By price: what it costs in each currency, which Stripe shows only when expanded. */
    currencyOptions: new Map<string, Record<string, Stripe.Price.CurrencyOptions>>(),
    /** By subscription: the currency that was chosen for it. */
    currencies: new Map<string, string>(),
    /** By subscription item, the oldest first. */
    debits: new Map<string, readonly Debit[]>(),
    /** By metered item: until when its usage was invoiced before the end of the period. */
    usageInvoiced: new Map<string, number>(),
    /** By subscription: prorations that wait for the next invoice. */
    pendingLines: new Map<string, Stripe.InvoiceLineItem[]>(),
    /** By subscription: the change that takes effect once its invoice is paid. */
    pendingChanges: new Map<string, PendingChange>(),
    /** The setting of the account. */
    dunning: new Map<'policy', Dunning>([['policy', DUNNING]]),
    /** By checkout session. */
    orders: new Map<string, Order>(),
    taxSettings: new Map<'head_office', true>(),
    /** By identifier. */
    meterEvents: new Map<string, MeterReading>(),
    /** Signing secrets by endpoint URL; several while a secret is being replaced. */
    webhooks: new Map<string, readonly string[]>(),
  }
}
