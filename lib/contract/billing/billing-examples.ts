import type {
  BillingDetails,
  CancelResponse,
  Discount,
  Invoice,
  PaymentMethodInfo,
  ProrationPreview,
  StripeEvent,
  SubscriptionResponse,
  TaxId,
} from './billing-schemas.ts'

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
