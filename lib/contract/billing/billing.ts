import { pageUrl, processorErrors, read, write } from './billing-columns.ts'
import {
  CancelResponse,
  CheckoutBody,
  CheckoutResponse,
  examples,
  OveragesBody,
  OveragesResponse,
  PlanBody,
  PreviewQuery,
  ProrationPreview,
  ReactivateResponse,
  SubscriptionResponse,
} from './billing-schemas.ts'
import { InquiryBody, OkResponse } from './contact.ts'
import type { Operation } from './operation.ts'

const subscription = {
  200: {
    description: 'The plan in effect',
    schema: SubscriptionResponse,
    example: examples.subscription,
  },
} as const

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
    description:
      'Answers the `url` of the page on which to pay, or with `embedded` the `clientSecret` for Stripe.js. Pages that were opened before are closed.',
    body: { schema: CheckoutBody, example: { planId: 'pro' } },
    replies: {
      200: { description: 'Where to pay', schema: CheckoutResponse, example: { url: pageUrl } },
    },
    errors: ['ALREADY_SUBSCRIBED', ...processorErrors],
  },
  {
    id: 'changePlan',
    method: 'put',
    path: '/v1/billing/subscription',
    ...write,
    summary: 'Change the plan now, with proration',
    description:
      'Charges what the last preview of the same plan told, where that is not older than an hour. Where the card is declined, nothing is changed.',
    body: { schema: PlanBody, example: { planId: 'pro' } },
    replies: subscription,
    errors: ['NO_ACTIVE_SUBSCRIPTION', 'PAYMENT_FAILED', ...processorErrors],
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
    id: 'sendBillingInquiry',
    method: 'post',
    path: '/v1/billing/contact',
    ...write,
    summary: 'Ask for enterprise or custom pricing',
    description: 'The answer goes to the e-mail address of the profile.',
    body: {
      schema: InquiryBody,
      example: { name: 'Ada Example', message: 'We need two million look-ups a month.' },
    },
    replies: { 200: { description: 'Queued', schema: OkResponse, example: { ok: true } } },
  },
] as const satisfies readonly Operation[]
