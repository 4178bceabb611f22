import * as v from 'valibot'
import { Count, object, strictObject, Timestamp, textUpTo, UrlText } from '../common.ts'
import { Amount, Currency, Interval } from './price-schemas.ts'

export const Plan = strictObject('What a plan includes and costs', {
  id: v.string(),
  name: v.string(),
  monthlyCap: v.pipe(Count, v.description('Counted requests per period')),
  maxKeys: Count,
  maxSites: Count,
  price: v.pipe(v.number(), v.minValue(0), v.description('Per month')),
  stripePriceId: v.pipe(v.nullable(v.string()), v.description('Null if not for sale')),
})
export type Plan = v.InferOutput<typeof Plan>

export const SubscriptionResponse = strictObject(
  'The plan in effect and the subscription that it comes from',
  {
    plan: Plan,
    subscription: v.nullable(
      v.strictObject({
        id: v.string(),
        status: v.pipe(v.string(), v.description('The status at Stripe, or canceling')),
        currentPeriodStart: v.nullable(Timestamp),
        currentPeriodEnd: v.nullable(Timestamp),
        overagesEnabled: v.optional(v.boolean()),
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
  clientSecret: v.optional(
    v.pipe(v.string(), v.description('Instead of url, if embedded is true')),
  ),
})
export type CheckoutResponse = v.InferOutput<typeof CheckoutResponse>

export const PortalResponse = strictObject('Address of the customer portal', { url: UrlText })

export const CancelResponse = strictObject(
  'Confirms the cancellation and says when the subscription ends',
  {
    status: v.literal('canceling'),
    cancelAt: v.nullable(Timestamp),
  },
)
export type CancelResponse = v.InferOutput<typeof CancelResponse>

export const ReactivateResponse = strictObject('Confirms that the subscription continues', {
  status: v.literal('active'),
})
export type ReactivateResponse = v.InferOutput<typeof ReactivateResponse>

export const OveragesResponse = strictObject(
  'Whether paid requests above the monthly cap are allowed',
  { overagesEnabled: v.boolean() },
)
export const SetupIntentResponse = strictObject(
  'The client secret that the payment form needs to add a payment method',
  { clientSecret: v.string() },
)
export const SuccessResponse = strictObject('Confirms success', { success: v.boolean() })
export const ReceivedResponse = strictObject('Confirms that the event was processed', {
  received: v.boolean(),
})

/** The parts of an event that we read once its signature is verified. */
export const StripeEvent = v.pipe(
  v.looseObject({
    id: v.pipe(v.string(), v.minLength(1)),
    type: v.pipe(v.string(), v.description('Such as invoice.paid')),
    account: v.optional(v.string()),
    livemode: v.optional(v.boolean()),
    data: v.looseObject({
      object: v.record(v.string(), v.unknown()),
    }),
  }),
  v.description('An event, as Stripe sends it'),
)
export type StripeEvent = v.InferOutput<typeof StripeEvent>

export const Invoice = strictObject('An invoice and its status', {
  id: v.string(),
  number: v.pipe(v.nullable(v.string()), v.description('Null for a draft')),
  status: v.pipe(v.nullable(v.string()), v.description('Such as open or paid')),
  currency: Currency,
  amountDue: Amount,
  amountPaid: Amount,
  tax: v.optional(v.pipe(Amount, v.description('The tax in the total, if tax is calculated'))),
  createdAt: Timestamp,
  hostedInvoiceUrl: v.nullable(UrlText),
  pdfUrl: v.nullable(UrlText),
})
export type Invoice = v.InferOutput<typeof Invoice>

export const BillingDetails = strictObject('Name, e-mail and address on invoices', {
  name: v.nullable(v.string()),
  email: v.nullable(v.string()),
  address: v.nullable(
    v.strictObject({
      line1: v.nullable(v.string()),
      line2: v.nullable(v.string()),
      city: v.nullable(v.string()),
      state: v.nullable(v.string()),
      postalCode: v.nullable(v.string()),
      country: v.nullable(v.string()),
    }),
  ),
})
export type BillingDetails = v.InferOutput<typeof BillingDetails>

export const Discount = strictObject('A discount: a percentage or an amount', {
  code: v.pipe(v.nullable(v.string()), v.description('The promotion code that was entered')),
  percentOff: v.nullable(v.number()),
  amountOff: v.nullable(Amount),
  currency: v.pipe(v.nullable(Currency), v.description('The currency of amountOff')),
  endsAt: v.pipe(v.nullable(Timestamp), v.description('Null if it does not end')),
})
export type Discount = v.InferOutput<typeof Discount>

export const ActiveDiscount = v.pipe(
  v.union([Discount, v.strictObject({})]),
  v.description('The active discount; an empty object if there is none'),
)
export type ActiveDiscount = v.InferOutput<typeof ActiveDiscount>

export const PromoApplied = strictObject('Confirms the promotion code and shows its discount', {
  applied: v.literal(true),
  discount: Discount,
})

export const TaxId = strictObject('A tax ID on invoices', {
  id: v.string(),
  type: v.pipe(v.string(), v.description('Such as eu_vat')),
  value: v.string(),
  status: v.pipe(
    v.nullable(v.string()),
    v.description('The status of its verification, such as pending'),
  ),
})
export type TaxId = v.InferOutput<typeof TaxId>

export const PaymentMethodInfo = strictObject(
  'The default payment method; all fields are null if there is none',
  {
    brand: v.nullable(v.string()),
    last4: v.nullable(v.string()),
    expMonth: v.nullable(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(12))),
    expYear: v.nullable(v.pipe(v.number(), v.integer())),
  },
)
export type PaymentMethodInfo = v.InferOutput<typeof PaymentMethodInfo>

export const ProrationPreview = strictObject('The cost of changing the plan now', {
  planId: v.string(),
  currency: Currency,
  amountDue: Amount,
  tax: v.optional(
    v.pipe(Amount, v.description('The tax in the sum of the lines, if tax is calculated')),
  ),
  prorationDate: Timestamp,
  lines: v.array(v.strictObject({ description: v.nullable(v.string()), amount: Amount })),
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
    v.pipe(
      v.boolean(),
      v.description('Return a clientSecret that embeds the page of Stripe in your own page'),
    ),
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
  overagesEnabled: v.boolean(),
})
