const NO_TAX = { enabled: false, disabled_reason: null, liability: null, provider: null }
const SELF = { type: 'self' }
const NOBODY = { address: null, email: null, name: null, phone: null, tax_id: null }

/**
 * The fields that Stripe's OpenAPI document requires of each kind of object, and that the double always
 * or at first sets to these values.
 */
export function usualFields(kind: string, now: number): object {
  return USUAL[kind]?.(now) ?? {}
}

const USUAL: Readonly<Record<string, (now: number) => object>> = {
  'billing_portal.session': () => ({ configuration: 'bpc_double' }),
  'checkout.session': () => ({
    automatic_tax: { ...NO_TAX, status: null },
    custom_fields: [],
    custom_text: {
      after_submit: null,
      shipping_address: null,
      submit: null,
      terms_of_service_acceptance: null,
    },
    payment_method_types: ['card'],
    shipping_options: [],
  }),
  coupon: () => ({ times_redeemed: 0, valid: true }),
  invoice: () => ({
    amount_overpaid: 0,
    amount_paid_off_stripe: 0,
    amount_shipping: 0,
    auto_advance: true,
    automatic_tax: { ...NO_TAX, status: null },
    collection_method: 'charge_automatically',
    default_tax_rates: [],
    issuer: SELF,
    payment_settings: {
      default_mandate: null,
      payment_method_options: null,
      payment_method_types: null,
    },
    post_payment_credit_notes_amount: 0,
    pre_payment_credit_notes_amount: 0,
    status_transitions: {
      finalized_at: null,
      marked_uncollectible_at: null,
      paid_at: null,
      voided_at: null,
    },
  }),
  line_item: () => ({ discounts: [], metadata: {} }),
  payment_method: () => ({
    billing_details: NOBODY,
  }),
  price: () => ({ billing_scheme: 'per_unit', metadata: {} }),
  product: (now) => ({
    active: true,
    images: [],
    marketing_features: [],
    metadata: {},
    updated: now,
  }),
  setup_intent: () => ({ payment_method_types: ['card'] }),
  subscription: (now) => ({
    automatic_tax: NO_TAX,
    billing_mode: { type: 'flexible', flexible: null },
    billing_schedules: [],
    collection_method: 'charge_automatically',
    invoice_settings: { account_tax_ids: null, issuer: SELF },
    start_date: now,
  }),
  subscription_item: () => ({ discounts: [] }),
}
