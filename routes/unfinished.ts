import type { OperationId } from '../lib/contract/operations.ts'

/** Operations of the contract that answer 501 so far; empty when the product is done. */
export const UNFINISHED = [
  'getSubscription',
  'createCheckout',
  'changePlan',
  'setOverages',
  'cancelSubscription',
  'previewPlanChange',
  'reactivateSubscription',
  'openPortal',
  'listInvoices',
  'getBillingDetails',
  'updateAddress',
  'applyPromo',
  'getDiscount',
  'listTaxIds',
  'addTaxId',
  'deleteTaxId',
  'getPaymentMethod',
  'createSetupIntent',
  'setPaymentMethod',
  'sendBillingInquiry',
  'receiveStripeEvent',
  'sendInquiry',
  'getContactChallenge',
] as const satisfies readonly OperationId[]

export type UnfinishedId = (typeof UNFINISHED)[number]
