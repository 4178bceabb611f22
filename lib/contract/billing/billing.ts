import { InquiryBody, OkResponse } from '../contact.ts'
import { type Operation, ok } from '../operation.ts'
import { pageUrl, read, stripeErrors, subscriptionErrors, write } from './billing-columns.ts'
import { examples } from './billing-examples.ts'
import {
  CancelResponse,
  CheckoutBody,
  CheckoutResponse,
  OveragesBody,
  OveragesResponse,
  PlanBody,
  PlanChangeResponse,
  PreviewQuery,
  ProrationPreview,
  ReactivateResponse,
  RefreshQuery,
  SubscriptionResponse,
} from './billing-schemas.ts'
import { exampleTerms, Terms } from './price-schemas.ts'

const subscription = ok('The plan in effect', SubscriptionResponse, examples.subscription)

export const billingOperations = [
  {
    id: 'getSubscription',
    method: 'get',
    path: '/v1/billing/subscription',
    ...read,
    summary: 'Plan and subscription of the caller',
    description:
      'With `refresh=true`, asks Stripe first, at most every three seconds for each user. Use it when the buyer returns from a checkout.',
    query: RefreshQuery,
    replies: subscription,
    errors: ['BILLING_UNAVAILABLE'],
  },
  {
    id: 'createCheckout',
    method: 'post',
    path: '/v1/billing/subscription',
    ...write,
    summary: 'Start a checkout for a plan',
    description:
      'Returns the `url` of the payment page or, with `embedded`, the `clientSecret` for Stripe.js. Closes payment pages that were opened earlier.',
    body: { schema: CheckoutBody, example: { planId: 'pro' } },
    replies: ok('Where to pay', CheckoutResponse, { url: pageUrl }),
    errors: ['ALREADY_SUBSCRIBED', 'EMAIL_NOT_VERIFIED', ...stripeErrors],
  },
  {
    id: 'changePlan',
    method: 'put',
    path: '/v1/billing/subscription',
    ...write,
    summary: 'Change the plan now, with proration',
    description:
      'Charges the amount of the last preview of the same plan if that preview is at most an hour old and the interval stays. Another interval begins a new period. If the card is declined or an invoice is open, nothing changes. If the bank asks to confirm the payment (3-D Secure) and the period stays, `confirmation` has the page, and the plan changes once it is paid.',
    body: { schema: PlanBody, example: { planId: 'pro' } },
    replies: ok('The plan in effect', PlanChangeResponse, examples.subscription),
    errors: ['PAYMENT_FAILED', ...subscriptionErrors],
  },
  {
    id: 'setOverages',
    method: 'patch',
    path: '/v1/billing/subscription',
    ...write,
    summary: 'Turn paid requests over the cap on or off; Pro and up',
    body: { schema: OveragesBody, example: { overagesEnabled: true } },
    replies: ok('The setting in effect', OveragesResponse, { overagesEnabled: true }),
    errors: ['PLAN_REQUIRED', 'PAYMENT_FAILED', ...subscriptionErrors],
  },
  {
    id: 'cancelSubscription',
    method: 'delete',
    path: '/v1/billing/subscription',
    ...write,
    summary: 'Cancel at the end of the period',
    replies: ok('Access continues until then', CancelResponse, examples.canceling),
    errors: subscriptionErrors,
  },
  {
    id: 'previewPlanChange',
    method: 'get',
    path: '/v1/billing/subscription/preview',
    ...read,
    summary: 'What a change of plan would cost now',
    query: PreviewQuery,
    replies: ok('The preview', ProrationPreview, examples.preview),
    errors: ['PAYMENT_FAILED', ...subscriptionErrors],
  },
  {
    id: 'getTerms',
    method: 'get',
    path: '/v1/billing/subscription/terms',
    ...read,
    summary: 'How the subscription is paid',
    replies: ok('The terms', Terms, exampleTerms),
    errors: ['NO_ACTIVE_SUBSCRIPTION'],
  },
  {
    id: 'reactivateSubscription',
    method: 'post',
    path: '/v1/billing/subscription/reactivate',
    ...write,
    summary: 'Undo a cancellation',
    replies: ok('The subscription continues', ReactivateResponse, { status: 'active' }),
    errors: subscriptionErrors,
  },
  {
    id: 'sendBillingInquiry',
    method: 'post',
    path: '/v1/billing/contact',
    ...write,
    summary: 'Ask for enterprise or custom pricing',
    description:
      'Each user may send five in 15 minutes, and so may all users of one address together. The operator replies to the e-mail address of the profile.',
    successLimit: 'inquiries',
    body: {
      schema: InquiryBody,
      example: { name: 'Ada Example', message: 'We need two million look-ups a month.' },
    },
    replies: ok('The inquiry is stored', OkResponse, { ok: true }),
    errors: ['EMAIL_NOT_VERIFIED'],
  },
] as const satisfies readonly Operation[]
