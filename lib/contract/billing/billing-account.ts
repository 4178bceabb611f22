import * as v from 'valibot'
import { created, type Operation, ok } from '../operation.ts'
import { AddressBody, PaymentMethodBody, PromoBody, TaxIdBody } from './billing-account-bodies.ts'
import { accountErrors, pageUrl, read, subscriptionErrors, write } from './billing-columns.ts'
import { examples } from './billing-examples.ts'
import {
  ActiveDiscount,
  BillingDetails,
  Invoice,
  PaymentMethodInfo,
  PortalResponse,
  PromoApplied,
  SetupIntentResponse,
  SuccessResponse,
  TaxId,
} from './billing-schemas.ts'

const success = ok('Done', SuccessResponse, { success: true })

/** What a user has at Stripe besides the subscription. */
export const billingAccountOperations = [
  {
    id: 'openPortal',
    method: 'post',
    path: '/v1/billing/portal',
    ...write,
    summary: "Open Stripe's customer portal",
    replies: ok('The URL of the portal', PortalResponse, { url: pageUrl }),
    errors: accountErrors,
  },
  {
    id: 'listInvoices',
    method: 'get',
    path: '/v1/billing/invoices',
    ...read,
    summary: 'List the invoices',
    replies: ok('The last hundred, newest first', v.array(Invoice), [examples.invoice]),
    errors: accountErrors,
  },
  {
    id: 'getBillingDetails',
    method: 'get',
    path: '/v1/billing/details',
    ...read,
    summary: 'Name, e-mail and address on the invoices',
    replies: ok('The details', BillingDetails, examples.details),
    errors: accountErrors,
  },
  {
    id: 'updateAddress',
    method: 'put',
    path: '/v1/billing/address',
    ...write,
    summary: 'Set the address on the invoices',
    body: {
      schema: AddressBody,
      example: { line1: '1 Example Street', city: 'London', postal_code: 'N1 1AA', country: 'GB' },
    },
    replies: success,
    errors: accountErrors,
  },
  {
    id: 'applyPromo',
    method: 'post',
    path: '/v1/billing/promo',
    ...write,
    countsGuesses: true,
    summary: 'Apply a promotion code to the subscription',
    description:
      'Replaces other discounts. Applying a code that is already active changes nothing.',
    body: { schema: PromoBody, example: { code: examples.discount.code } },
    replies: ok('Applied', PromoApplied, examples.promo),
    errors: subscriptionErrors,
  },
  {
    id: 'getDiscount',
    method: 'get',
    path: '/v1/billing/discount',
    ...read,
    summary: 'The active discount, or an empty object',
    replies: ok('The discount', ActiveDiscount, examples.discount),
    errors: ['BILLING_UNAVAILABLE'],
  },
  {
    id: 'listTaxIds',
    method: 'get',
    path: '/v1/billing/tax-ids',
    ...read,
    summary: 'List the tax IDs',
    replies: ok('All tax IDs', v.array(TaxId), [examples.taxId]),
    errors: accountErrors,
  },
  {
    id: 'addTaxId',
    method: 'post',
    path: '/v1/billing/tax-ids',
    ...write,
    summary: 'Add a tax ID',
    description: 'If the account already has the tax ID, returns the existing one.',
    body: { schema: TaxIdBody, example: { type: 'eu_vat', value: 'DE000000000' } },
    replies: created('The tax ID', TaxId, examples.taxId, { deleteTaxId: { id: 'id' } }),
    errors: accountErrors,
  },
  {
    id: 'deleteTaxId',
    method: 'delete',
    path: '/v1/billing/tax-ids/{id}',
    ...write,
    summary: 'Remove a tax ID',
    params: { id: { description: 'The id of the tax ID', example: examples.taxId.id } },
    replies: success,
    errors: ['NOT_FOUND', ...accountErrors],
  },
  {
    id: 'getPaymentMethod',
    method: 'get',
    path: '/v1/billing/payment-method-info',
    ...read,
    summary: 'The default payment method',
    replies: ok('The method', PaymentMethodInfo, examples.card),
    errors: accountErrors,
  },
  {
    id: 'createSetupIntent',
    method: 'post',
    path: '/v1/billing/setup-intent',
    ...write,
    summary: 'Start adding a payment method',
    replies: ok("The client secret for Stripe's form", SetupIntentResponse, {
      clientSecret: 'seti_example',
    }),
    errors: accountErrors,
  },
  {
    id: 'setPaymentMethod',
    method: 'post',
    path: '/v1/billing/payment-method',
    ...write,
    summary: 'Set the default payment method',
    description:
      'For the subscription and for later subscriptions. Pays open invoices at once; if it is declined, nothing changes.',
    body: { schema: PaymentMethodBody, example: { paymentMethodId: 'pm_example' } },
    replies: success,
    errors: ['PAYMENT_FAILED', ...subscriptionErrors],
  },
] as const satisfies readonly Operation[]
