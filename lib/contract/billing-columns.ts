/** What the rows of billing share. */

export const read = { tag: 'Billing', access: 'billing:read', limit: 'account' } as const
export const write = { tag: 'Billing', access: 'billing:write', limit: 'account' } as const
export const processorErrors = ['BILLING_NOT_CONFIGURED', 'BILLING_UNAVAILABLE'] as const

/** Of a page of the payment processor, in examples. */
export const pageUrl = 'https://pay.example/session'
