/** The columns that rows of billing share. */

export const read = { tag: 'Billing', access: 'billing:read', limit: 'account' } as const
export const write = {
  tag: 'Billing',
  access: 'billing:write',
  limit: 'account',
  successLimit: 'billing',
} as const
export const stripeErrors = ['BILLING_NOT_CONFIGURED', 'BILLING_UNAVAILABLE'] as const
export const accountErrors = ['NO_BILLING_ACCOUNT', ...stripeErrors] as const
export const subscriptionErrors = ['NO_ACTIVE_SUBSCRIPTION', ...stripeErrors] as const

/** Example URL of a Stripe page. */
export const pageUrl = 'https://pay.example/session'
