import type Stripe from 'stripe'

/** A card behind a payment method: what happens when it is charged. */
export type CardBehaviour = 'pays' | 'declines'

/** What an item was last charged for, net of discounts: what a credit is computed from. */
export interface Debit {
  readonly net: number
  readonly start: number
  readonly end: number
}

export interface MeterReading {
  readonly eventName: string
  readonly customer: string
  readonly value: number
  readonly timestamp: number
}

/** All that this Stripe knows, in memory only. */
export interface State {
  readonly tables: {
    readonly customers: Map<string, Stripe.Customer>
    readonly products: Map<string, Stripe.Product>
    readonly prices: Map<string, Stripe.Price>
    readonly coupons: Map<string, Stripe.Coupon>
    readonly promotionCodes: Map<string, Stripe.PromotionCode>
    readonly discounts: Map<string, Stripe.Discount>
    readonly taxIds: Map<string, Stripe.TaxId>
    readonly paymentMethods: Map<string, Stripe.PaymentMethod>
    readonly setupIntents: Map<string, Stripe.SetupIntent>
    readonly sessions: Map<string, Stripe.Checkout.Session>
    readonly portalSessions: Map<string, Stripe.BillingPortal.Session>
    readonly subscriptions: Map<string, Stripe.Subscription>
    readonly invoices: Map<string, Stripe.Invoice>
    readonly meters: Map<string, Stripe.Billing.Meter>
    readonly events: Map<string, Stripe.Event>
    readonly webhookEndpoints: Map<string, Stripe.WebhookEndpoint>
  }
  readonly deletedIds: Map<string, string>
  readonly cards: Map<string, CardBehaviour>
  /** What a coupon is good for, which Stripe leaves out unless it is asked for. */
  readonly couponProducts: Map<string, Stripe.Coupon.AppliesTo>
  /** By subscription item. */
  readonly debits: Map<string, Debit>
  /** Prorations that wait for the next invoice, by subscription. */
  readonly pendingLines: Map<string, Stripe.InvoiceLineItem[]>
  /** What a checkout session sells and gives to its subscription. */
  readonly orders: Map<string, Order>
  readonly meterEvents: Map<string, MeterReading>
  /** By webhook endpoint: several while rotating. */
  readonly signingSecrets: Map<string, readonly string[]>
}

export interface Order {
  readonly lines: readonly { readonly price: string; readonly quantity?: number }[]
  readonly metadata: Stripe.Metadata
  readonly trialEnd?: number
}

export function createState(): State {
  return {
    tables: {
      customers: new Map(),
      products: new Map(),
      prices: new Map(),
      coupons: new Map(),
      promotionCodes: new Map(),
      discounts: new Map(),
      taxIds: new Map(),
      paymentMethods: new Map(),
      setupIntents: new Map(),
      sessions: new Map(),
      portalSessions: new Map(),
      subscriptions: new Map(),
      invoices: new Map(),
      meters: new Map(),
      events: new Map(),
      webhookEndpoints: new Map(),
    },
    deletedIds: new Map(),
    cards: new Map(),
    couponProducts: new Map(),
    debits: new Map(),
    pendingLines: new Map(),
    orders: new Map(),
    meterEvents: new Map(),
    signingSecrets: new Map(),
  }
}
