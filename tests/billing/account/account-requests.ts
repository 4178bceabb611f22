/** A request to an operation on a billing account. */
export interface BillingRequest {
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly body?: object
  /** The error for a user without a customer; null if the answer is not an error. */
  readonly missing: 'NO_BILLING_ACCOUNT' | 'NO_ACTIVE_SUBSCRIPTION' | null
}

const account = { missing: 'NO_BILLING_ACCOUNT' } as const
const subscription = { missing: 'NO_ACTIVE_SUBSCRIPTION' } as const

/** One valid request to each operation. Ids in paths do not exist. */
export const billingRequests: readonly BillingRequest[] = [
  { id: 'openPortal', method: 'POST', path: '/v1/billing/portal', ...account },
  { id: 'listInvoices', method: 'GET', path: '/v1/billing/invoices', ...account },
  { id: 'getBillingDetails', method: 'GET', path: '/v1/billing/details', ...account },
  {
    id: 'updateAddress',
    method: 'PUT',
    path: '/v1/billing/address',
    body: { line1: '1 Example Street', city: 'London', country: 'GB' },
    ...account,
  },
  {
    id: 'applyPromo',
    method: 'POST',
    path: '/v1/billing/promo',
    body: { code: 'WELCOME' },
    ...subscription,
  },
  { id: 'getDiscount', method: 'GET', path: '/v1/billing/discount', missing: null },
  { id: 'listTaxIds', method: 'GET', path: '/v1/billing/tax-ids', ...account },
  {
    id: 'addTaxId',
    method: 'POST',
    path: '/v1/billing/tax-ids',
    body: { type: 'eu_vat', value: 'DE123456789' },
    ...account,
  },
  { id: 'deleteTaxId', method: 'DELETE', path: '/v1/billing/tax-ids/txi_none', ...account },
  {
    id: 'getPaymentMethod',
    method: 'GET',
    path: '/v1/billing/payment-method-info',
    ...account,
  },
  { id: 'createSetupIntent', method: 'POST', path: '/v1/billing/setup-intent', ...account },
  {
    id: 'setPaymentMethod',
    method: 'POST',
    path: '/v1/billing/payment-method',
    body: { paymentMethodId: 'pm_card_visa' },
    ...subscription,
  },
]
