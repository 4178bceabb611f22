import * as v from 'valibot'
import { count, flag, object, strictObject, Timestamp, text, textUpTo, UrlText } from '../common.ts'
import { Amount, Currency, Interval } from './price-schemas.ts'

export const Plan = strictObject('What a plan includes and costs', {
  id: text('Names the plan in requests, such as pro'),
  name: text('For people'),
  monthlyCap: count('Counted requests per period'),
  maxKeys: count('The most keys of a user'),
  maxSites: count('The most sites of a user'),
  price: v.pipe(
    v.number(),
    v.minValue(0),
    v.description('Per month, in whole units of the currency'),
  ),
  stripePriceId: v.nullable(text('The monthly price at Stripe; null: not for sale')),
})
export type Plan = v.InferOutput<typeof Plan>

export const SubscriptionResponse = strictObject(
  'The plan in effect and the subscription that it comes from',
  {
    plan: Plan,
    subscription: v.nullable(
      strictObject('The subscription; null: none that is live', {
        id: text('The id at Stripe'),
        status: text('The status at Stripe, or canceling'),
        currentPeriodStart: v.nullable(
          v.pipe(Timestamp, v.description('When the paid period began; null: unknown')),
        ),
        currentPeriodEnd: v.nullable(
          v.pipe(Timestamp, v.description('When it ends or is paid again; null: unknown')),
        ),
        overagesEnabled: v.optional(flag('Whether requests above the cap are allowed and paid')),
      }),
    ),
  },
)
export type SubscriptionResponse = v.InferOutput<typeof SubscriptionResponse>

const PaymentConfirmation = v.strictObject({
  url: v.pipe(UrlText, v.description('The page on which to confirm')),
  expiresAt: v.pipe(Timestamp, v.description('Then the change is discarded, and nothing is owed')),
})
export type PaymentConfirmation = v.InferOutput<typeof PaymentConfirmation>

export const PlanChangeResponse = strictObject('The plan in effect after the change', {
  ...SubscriptionResponse.entries,
  confirmation: v.optional(
    v.pipe(
      PaymentConfirmation,
      v.description('If the bank asks for it: the plan changes once the payment is confirmed'),
    ),
  ),
})
export type PlanChangeResponse = v.InferOutput<typeof PlanChangeResponse>

export const CheckoutResponse = strictObject('Where to continue the checkout', {
  url: v.optional(v.pipe(UrlText, v.description('The payment page to which to send the user'))),
  clientSecret: v.optional(text('Instead of url, if embedded is true')),
})
export type CheckoutResponse = v.InferOutput<typeof CheckoutResponse>

export const PortalResponse = strictObject('Address of the customer portal', {
  url: v.pipe(UrlText, v.description('The page to which to send the user; it expires soon')),
})

export const CancelResponse = strictObject(
  'Confirms the cancellation and says when the subscription ends',
  {
    status: v.pipe(v.literal('canceling'), v.description('Always canceling')),
    cancelAt: v.nullable(v.pipe(Timestamp, v.description('When it ends; null: unknown'))),
  },
)
export type CancelResponse = v.InferOutput<typeof CancelResponse>

export const ReactivateResponse = strictObject('Confirms that the subscription continues', {
  status: v.pipe(v.literal('active'), v.description('Always active')),
})
export type ReactivateResponse = v.InferOutput<typeof ReactivateResponse>

export const OveragesResponse = strictObject(
  'Whether paid requests above the monthly cap are allowed',
  { overagesEnabled: flag('Whether they are, from now on') },
)
export const SetupIntentResponse = strictObject(
  'The client secret that the payment form needs to add a payment method',
  { clientSecret: text('What Stripe.js needs to show the form') },
)
export const SuccessResponse = strictObject('Confirms success', { success: flag('Always true') })
export const ReceivedResponse = strictObject('Confirms that the event was processed', {
  received: flag('Always true'),
})

/** The parts of an event that we read once its signature is verified. */
export const StripeEvent = v.pipe(
  v.looseObject({
    id: v.pipe(v.string(), v.minLength(1), v.description('The id at Stripe')),
    type: text('Such as invoice.paid'),
    account: v.optional(text('The connected account that it is about, if any')),
    livemode: v.optional(flag('False: of a test mode')),
    data: v.pipe(
      v.looseObject({
        object: v.pipe(v.record(v.string(), v.unknown()), v.description('The object that changed')),
      }),
      v.description('What the event is about'),
    ),
  }),
  v.description('An event, as Stripe sends it'),
)
export type StripeEvent = v.InferOutput<typeof StripeEvent>

export const Invoice = strictObject('An invoice and its status', {
  id: text('The id at Stripe'),
  number: v.nullable(text('The number on the invoice; null: a draft')),
  status: v.nullable(text('Such as open or paid; null: unknown')),
  currency: Currency,
  amountDue: v.pipe(Amount, v.description('What is to be paid, in the smallest unit')),
  amountPaid: v.pipe(Amount, v.description('What has been paid, in the smallest unit')),
  tax: v.optional(v.pipe(Amount, v.description('The tax in the total, if tax is calculated'))),
  createdAt: Timestamp,
  hostedInvoiceUrl: v.nullable(
    v.pipe(UrlText, v.description('The page on which to see and pay it; null: a draft')),
  ),
  pdfUrl: v.nullable(v.pipe(UrlText, v.description('The invoice as PDF; null: a draft'))),
})
export type Invoice = v.InferOutput<typeof Invoice>

export const BillingDetails = strictObject('Name, e-mail and address on invoices', {
  name: v.nullable(text('Whom the invoices name; null: nobody')),
  email: v.nullable(text('Where they are sent; null: nowhere')),
  address: v.nullable(
    strictObject('The address on them; null: none', {
      line1: v.nullable(text('Street and number; null: none')),
      line2: v.nullable(text('Building, floor and the like; null: none')),
      city: v.nullable(text('City or town; null: none')),
      state: v.nullable(text('State, province or county; null: none')),
      postalCode: v.nullable(text('Postal code; null: none')),
      country: v.nullable(text('ISO 3166-1 alpha-2; null: none')),
    }),
  ),
})
export type BillingDetails = v.InferOutput<typeof BillingDetails>

export const Discount = strictObject('A discount: a percentage or an amount', {
  code: v.nullable(text('The promotion code that was entered; null: none')),
  percentOff: v.nullable(v.pipe(v.number(), v.description('Per cent; null: an amount instead'))),
  amountOff: v.nullable(
    v.pipe(
      Amount,
      v.description('In the smallest unit of the currency; null: a percentage instead'),
    ),
  ),
  currency: v.pipe(
    v.nullable(Currency),
    v.description('The currency of amountOff; null: a percentage'),
  ),
  endsAt: v.pipe(v.nullable(Timestamp), v.description('null: it does not end')),
})
export type Discount = v.InferOutput<typeof Discount>

export const ActiveDiscount = v.pipe(
  v.union([Discount, v.strictObject({})]),
  v.description('The active discount; an empty object if there is none'),
)
export type ActiveDiscount = v.InferOutput<typeof ActiveDiscount>

export const PromoApplied = strictObject('Confirms the promotion code and shows its discount', {
  applied: v.pipe(v.literal(true), v.description('Always true')),
  discount: Discount,
})

export const TaxId = strictObject('A tax ID on invoices', {
  id: text('Identifies the tax ID in paths'),
  type: text('Such as eu_vat'),
  value: text('The tax ID, such as DE123456789'),
  status: v.pipe(
    v.nullable(v.string()),
    v.description('The status of its verification, such as pending; null: not verified'),
  ),
})
export type TaxId = v.InferOutput<typeof TaxId>

export const PaymentMethodInfo = strictObject(
  'The default payment method; all fields are null if there is none',
  {
    brand: v.nullable(text('Such as visa, or the kind of method; null: none')),
    last4: v.nullable(text('The last four digits; null: none')),
    expMonth: v.nullable(
      v.pipe(
        v.number(),
        v.integer(),
        v.minValue(1),
        v.maxValue(12),
        v.description('The month in which it expires; null: it does not'),
      ),
    ),
    expYear: v.nullable(
      v.pipe(
        v.number(),
        v.integer(),
        v.description('The year in which it expires; null: it does not'),
      ),
    ),
  },
)
export type PaymentMethodInfo = v.InferOutput<typeof PaymentMethodInfo>

export const ProrationPreview = strictObject('The cost of changing the plan now', {
  planId: text('The requested plan'),
  currency: Currency,
  amountDue: v.pipe(Amount, v.description('What is charged now, in the smallest unit')),
  tax: v.optional(
    v.pipe(Amount, v.description('The tax in the sum of the lines, if tax is calculated')),
  ),
  prorationDate: v.pipe(Timestamp, v.description('The time up to which the old plan is charged')),
  lines: v.pipe(
    v.array(
      v.strictObject({
        description: v.nullable(text('What the line is for, from Stripe; null: unknown')),
        amount: Amount,
      }),
    ),
    v.description('What the sum consists of; credits are negative'),
  ),
})
export type ProrationPreview = v.InferOutput<typeof ProrationPreview>

const PlanId = v.pipe(textUpTo(64), v.minLength(1), v.description('The id of a plan, such as pro'))

const Wanted = {
  planId: PlanId,
  interval: v.optional(
    v.pipe(Interval, v.description('How often to pay; default: as now, at first by the month')),
  ),
}

export const PlanBody = object('The requested plan', Wanted)

export const CheckoutBody = object('The plan to buy, and how to show the payment page', {
  ...Wanted,
  currency: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[a-z]{3}$/),
      v.description('One in which the plan is sold; default: Stripe chooses it by the place'),
    ),
  ),
  embedded: v.optional(
    flag('Return a clientSecret that embeds the page of Stripe in your own page'),
  ),
})

/** Not `PlanBody`: OpenAPI needs a schema without a name for the parameters of a query. */
export const RefreshQuery = v.object({
  refresh: v.optional(
    v.pipe(
      v.literal('true', 'refresh: must be true'),
      v.description('Asks Stripe first, for example after a checkout'),
    ),
  ),
})

export const PreviewQuery = v.object(Wanted)

export const OveragesBody = object('Whether to allow paid requests above the monthly cap', {
  overagesEnabled: flag('Whether to allow them'),
})
