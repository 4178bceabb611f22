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
    data: v.looseObject({
      object: v.record(v.string(), v.unknown()),
      previous_attributes: v.optional(v.record(v.string(), v.unknown())),
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
export const PreviewQuery = v.object(Wanted)

export const OveragesBody = object('Whether to allow paid requests above the monthly cap', {
  overagesEnabled: v.boolean(),
})

const discount = {
  code: 'WELCOME',
  percentOff: 20,
  amountOff: null,
  currency: null,
  endsAt: '2026-04-15T12:00:00.000Z',
} as const satisfies Discount

export const examples = {
  subscription: {
    plan: {
      id: 'pro',
      name: 'Pro',
      monthlyCap: 100_000,
      maxKeys: 10,
      maxSites: 2,
      price: 29,
      stripePriceId: 'price_example',
    },
    subscription: {
      id: 'sub_example',
      status: 'active',
      currentPeriodStart: '2026-01-15T12:00:00.000Z',
      currentPeriodEnd: '2026-02-15T12:00:00.000Z',
      overagesEnabled: false,
    },
  } satisfies SubscriptionResponse,
  canceling: {
    status: 'canceling',
    cancelAt: '2026-02-15T12:00:00.000Z',
  } satisfies CancelResponse,
  preview: {
    planId: 'pro',
    currency: 'usd',
    amountDue: 2000,
    prorationDate: '2026-01-15T12:00:00.000Z',
    lines: [
      { description: 'Unused time on Starter', amount: -900 },
      { description: 'Remaining time on Pro', amount: 2900 },
    ],
  } satisfies ProrationPreview,
  invoice: {
    id: 'in_example',
    number: 'EXAMPLE-0001',
    status: 'paid',
    currency: 'usd',
    amountDue: 2900,
    amountPaid: 2900,
    createdAt: '2026-01-15T12:00:00.000Z',
    hostedInvoiceUrl: 'https://pay.example/invoice',
    pdfUrl: 'https://pay.example/invoice.pdf',
  } satisfies Invoice,
  details: {
    name: 'Ada Example',
    email: 'ada@shop.example',
    address: {
      line1: '1 Example Street',
      line2: null,
      city: 'London',
      state: null,
      postalCode: 'N1 1AA',
      country: 'GB',
    },
  } satisfies BillingDetails,
  discount,
  promo: { applied: true, discount },
  taxId: {
    id: 'txi_example',
    type: 'eu_vat',
    value: 'DE000000000',
    status: 'pending',
  } satisfies TaxId,
  event: {
    id: 'evt_example',
    type: 'invoice.paid',
    data: { object: { id: 'in_example', object: 'invoice', customer: 'cus_example' } },
  } satisfies StripeEvent,
  signature: `t=1768478400,v1=${'0'.repeat(64)}`,
  card: { brand: 'visa', last4: '0000', expMonth: 12, expYear: 2030 } satisfies PaymentMethodInfo,
} as const
