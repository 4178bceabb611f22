import * as v from 'valibot'
import { AddressBody, PaymentMethodBody, PromoBody, TaxIdBody } from './billing-account-bodies.ts'
import { pageUrl, processorErrors, read, write } from './billing-columns.ts'
import {
  ActiveDiscount,
  BillingDetails,
  examples,
  Invoice,
  PaymentMethodInfo,
  PortalResponse,
  PromoApplied,
  SetupIntentResponse,
  SuccessResponse,
  TaxId,
} from './billing-schemas.ts'
import type { Operation } from './operation.ts'

const success = {
  200: { description: 'Done', schema: SuccessResponse, example: { success: true } },
} as const

/** What a user has at the payment processor beside the subscription. */
export const billingAccountOperations = [
  {
    id: 'openPortal',
    method: 'post',
    path: '/v1/billing/portal',
    ...write,
    summary: 'Open the customer portal of the payment processor',
    replies: {
      200: { description: 'Where it is', schema: PortalResponse, example: { url: pageUrl } },
    },
    errors: ['NO_BILLING_ACCOUNT', ...processorErrors],
  },
  {
    id: 'listInvoices',
    method: 'get',
    path: '/v1/billing/invoices',
    ...read,
    summary: 'List the invoices',
    replies: {
      200: {
        description: 'The last hundred, newest first',
        schema: v.array(Invoice),
        example: [examples.invoice],
      },
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
    body: {
      schema: AddressBody,
      example: { line1: '1 Example Street', city: 'London', postal_code: 'N1 1AA', country: 'GB' },
    },
    replies: success,
    errors: ['NO_BILLING_ACCOUNT', ...processorErrors],
  },
  {
    id: 'applyPromo',
    method: 'post',
    path: '/v1/billing/promo',
    ...write,
    summary: 'Apply a promotion code to the subscription',
    description:
      'It takes the place of other discounts. One that is applied already stays as it is.',
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
    description: 'One that is there already is returned as it is.',
    body: { schema: TaxIdBody, example: { type: 'eu_vat', value: 'DE000000000' } },
    replies: {
      201: {
        description: 'The tax id',
        schema: TaxId,
        example: examples.taxId,
        links: { deleteTaxId: { id: 'id' } },
      },
    },
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
    description: 'Of the subscription and of what comes after it.',
    body: { schema: PaymentMethodBody, example: { paymentMethodId: 'pm_example' } },
    replies: success,
    errors: ['NO_ACTIVE_SUBSCRIPTION', 'PAYMENT_FAILED', ...processorErrors],
  },
] as const satisfies readonly Operation[]
