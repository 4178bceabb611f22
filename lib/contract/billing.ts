import * as v from 'valibot'
import {
  ActiveDiscount,
  AddressBody,
  BillingDetails,
  CancelResponse,
  CheckoutResponse,
  examples,
  Invoice,
  OveragesBody,
  OveragesResponse,
  PaymentMethodBody,
  PaymentMethodInfo,
  PlanBody,
  PortalResponse,
  PreviewQuery,
  PromoApplied,
  PromoBody,
  ProrationPreview,
  ReactivateResponse,
  ReceivedResponse,
  SetupIntentResponse,
  SubscriptionResponse,
  SuccessResponse,
  TaxId,
  TaxIdBody,
} from './billing-schemas.ts'
import { InquiryBody, OkResponse } from './contact.ts'
import type { Operation } from './operation.ts'

const url = 'https://pay.example/session'
const subscription = {
  200: {
    description: 'The plan in effect',
    schema: SubscriptionResponse,
    example: examples.subscription,
  },
} as const
const success = {
  200: { description: 'Done', schema: SuccessResponse, example: { success: true } },
} as const

const read = { tag: 'Billing', access: 'billing:read', limit: 'account' } as const
const write = { tag: 'Billing', access: 'billing:write', limit: 'account' } as const
const processorErrors = ['BILLING_NOT_CONFIGURED', 'BILLING_UNAVAILABLE'] as const

export const billingOperations = [
  {
    id: 'getSubscription',
    method: 'get',
    path: '/v1/billing/subscription',
    ...read,
    summary: 'Plan and subscription of the caller',
    replies: subscription,
  },
  {
    id: 'createCheckout',
    method: 'post',
    path: '/v1/billing/subscription',
    ...write,
    summary: 'Start a checkout for a plan',
    body: { schema: PlanBody, example: { planId: 'pro' } },
    replies: {
      200: { description: 'Where to pay', schema: CheckoutResponse, example: { url } },
    },
    errors: ['ALREADY_SUBSCRIBED', ...processorErrors],
  },
  {
    id: 'changePlan',
    method: 'put',
    path: '/v1/billing/subscription',
    ...write,
    summary: 'Change the plan now, with proration',
    body: { schema: PlanBody, example: { planId: 'pro' } },
    replies: subscription,
    errors: ['NO_ACTIVE_SUBSCRIPTION', ...processorErrors],
  },
  {
    id: 'setOverages',
    method: 'patch',
    path: '/v1/billing/subscription',
    ...write,
    summary: 'Allow requests over the cap for a fee, or stop that; Pro and up',
    body: { schema: OveragesBody, example: { overagesEnabled: true } },
    replies: {
      200: {
        description: 'As it now is',
        schema: OveragesResponse,
        example: { overagesEnabled: true },
      },
    },
    errors: ['PLAN_REQUIRED', 'NO_ACTIVE_SUBSCRIPTION', ...processorErrors],
  },
  {
    id: 'cancelSubscription',
    method: 'delete',
    path: '/v1/billing/subscription',
    ...write,
    summary: 'Cancel at the end of the period',
    replies: {
      200: {
        description: 'Access continues until then',
        schema: CancelResponse,
        example: examples.canceling,
      },
    },
    errors: ['NO_ACTIVE_SUBSCRIPTION', ...processorErrors],
  },
  {
    id: 'previewPlanChange',
    method: 'get',
    path: '/v1/billing/subscription/preview',
    ...read,
    summary: 'What a change of plan would cost now',
    query: PreviewQuery,
    replies: {
      200: { description: 'The preview', schema: ProrationPreview, example: examples.preview },
    },
    errors: ['NO_ACTIVE_SUBSCRIPTION', ...processorErrors],
  },
  {
    id: 'reactivateSubscription',
    method: 'post',
    path: '/v1/billing/subscription/reactivate',
    ...write,
    summary: 'Take a cancellation back',
    replies: {
      200: { description: 'Kept', schema: ReactivateResponse, example: { status: 'active' } },
    },
    errors: ['NO_ACTIVE_SUBSCRIPTION', ...processorErrors],
  },
  {
    id: 'openPortal',
    method: 'post',
    path: '/v1/billing/portal',
    ...write,
    summary: 'Open the customer portal of the payment processor',
    replies: { 200: { description: 'Where it is', schema: PortalResponse, example: { url } } },
    errors: processorErrors,
  },
  {
    id: 'listInvoices',
    method: 'get',
    path: '/v1/billing/invoices',
    ...read,
    summary: 'List the invoices',
    replies: {
      200: { description: 'Newest first', schema: v.array(Invoice), example: [examples.invoice] },
    },
    errors: ['NO_BILLING_ACCOUNT', ...processorErrors],
  },
  {
    id: 'getBillingDetails',
    method: 'get',
    path: '/v1/billing/details',
    ...read,
    summary: 'Name, email and address on the invoices',
    replies: {
      200: { description: 'The details', schema: BillingDetails, example: examples.details },
    },
    errors: ['NO_BILLING_ACCOUNT', ...processorErrors],
  },
  {
    id: 'updateAddress',
    method: 'put',
    path: '/v1/billing/address',
    ...write,
    summary: 'Set the address on the invoices',
    body: { schema: AddressBody, example: examples.address },
    replies: success,
    errors: ['NO_BILLING_ACCOUNT', ...processorErrors],
  },
  {
    id: 'applyPromo',
    method: 'post',
    path: '/v1/billing/promo',
    ...write,
    summary: 'Apply a promotion code to the subscription',
    body: { schema: PromoBody, example: { code: examples.discount.code } },
    replies: {
      200: { description: 'Applied', schema: PromoApplied, example: examples.promo },
    },
    errors: ['NO_ACTIVE_SUBSCRIPTION', ...processorErrors],
  },
  {
    id: 'getDiscount',
    method: 'get',
    path: '/v1/billing/discount',
    ...read,
    summary: 'The active discount, or an empty object',
    replies: {
      200: { description: 'The discount', schema: ActiveDiscount, example: examples.discount },
    },
    errors: ['BILLING_UNAVAILABLE'],
  },
  {
    id: 'listTaxIds',
    method: 'get',
    path: '/v1/billing/tax-ids',
    ...read,
    summary: 'List the tax ids',
    replies: {
      200: { description: 'All tax ids', schema: v.array(TaxId), example: [examples.taxId] },
    },
    errors: ['NO_BILLING_ACCOUNT', ...processorErrors],
  },
  {
    id: 'addTaxId',
    method: 'post',
    path: '/v1/billing/tax-ids',
    ...write,
    summary: 'Add a tax id',
    body: { schema: TaxIdBody, example: { type: 'eu_vat', value: 'DE000000000' } },
    replies: { 201: { description: 'The tax id', schema: TaxId, example: examples.taxId } },
    errors: ['NO_BILLING_ACCOUNT', ...processorErrors],
  },
  {
    id: 'deleteTaxId',
    method: 'delete',
    path: '/v1/billing/tax-ids/{id}',
    ...write,
    summary: 'Remove a tax id',
    params: { id: { description: 'The id of the tax id', example: examples.taxId.id } },
    replies: success,
    errors: ['NOT_FOUND', 'NO_BILLING_ACCOUNT', ...processorErrors],
  },
  {
    id: 'getPaymentMethod',
    method: 'get',
    path: '/v1/billing/payment-method-info',
    ...read,
    summary: 'The default payment method',
    replies: {
      200: { description: 'The method', schema: PaymentMethodInfo, example: examples.card },
    },
    errors: ['NO_BILLING_ACCOUNT', ...processorErrors],
  },
  {
    id: 'createSetupIntent',
    method: 'post',
    path: '/v1/billing/setup-intent',
    ...write,
    summary: 'Start to add a payment method',
    replies: {
      200: {
        description: 'The secret for the form of the payment processor',
        schema: SetupIntentResponse,
        example: { clientSecret: 'seti_example' },
      },
    },
    errors: ['NO_BILLING_ACCOUNT', ...processorErrors],
  },
  {
    id: 'setPaymentMethod',
    method: 'post',
    path: '/v1/billing/payment-method',
    ...write,
    summary: 'Set the default payment method',
    body: { schema: PaymentMethodBody, example: { paymentMethodId: 'pm_example' } },
    replies: success,
    errors: ['NO_ACTIVE_SUBSCRIPTION', ...processorErrors],
  },
  {
    id: 'sendBillingInquiry',
    method: 'post',
    path: '/v1/billing/contact',
    ...write,
    summary: 'Ask for enterprise or custom pricing',
    body: {
      schema: InquiryBody,
      example: { name: 'Ada Example', message: 'We need two million look-ups a month.' },
    },
    replies: { 200: { description: 'Queued', schema: OkResponse, example: { ok: true } } },
    errors: ['SERVICE_UNAVAILABLE'],
  },
  {
    id: 'receiveStripeEvent',
    method: 'post',
    path: '/v1/billing/webhook',
    tag: 'Billing',
    access: 'public',
    limit: 'none',
    summary: 'Receive an event of the payment processor',
    description: 'An event without a valid signature is refused.',
    headers: {
      'Stripe-Signature': {
        description: 'Time and signature of the event',
        example: examples.signature,
      },
    },
    body: { schema: v.unknown(), example: { id: 'evt_example' }, maxBytes: 262_144 },
    replies: {
      200: { description: 'Processed', schema: ReceivedResponse, example: { received: true } },
    },
    errors: ['BAD_REQUEST'],
  },
] as const satisfies readonly Operation[]
