/** What an action is called, by its name in the API. */
export const ACTIONS: Readonly<Record<string, string>> = {
  add_tax_id: 'Tax id added',
  apply_promo: 'Promotion code entered',
  cancel_subscription: 'Subscription cancelled',
  change_plan: 'Plan changed',
  create_checkout: 'Checkout opened',
  create_key: 'Key created',
  create_setup_intent: 'Form for a payment method opened',
  create_site: 'Site added',
  create_user: 'Account created',
  delete_site: 'Site removed',
  delete_tax_id: 'Tax id removed',
  login: 'Signed in',
  near_cap: 'Monthly cap nearly used',
  open_portal: 'Payment portal opened',
  payment_failed: 'Payment failed',
  reach_cap: 'Monthly cap used',
  reactivate_subscription: 'Cancellation taken back',
  renew_key: 'Key renewed',
  revoke_key: 'Key revoked',
  send_inquiry: 'Inquiry sent',
  set_overages: 'Overages switched',
  set_password: 'Password set',
  set_payment_method: 'Payment method changed',
  subscription_ended: 'Subscription ended',
  subscription_updated: 'Subscription updated',
  update_address: 'Billing address changed',
}

export const APPS: Readonly<Record<string, string>> = {
  api: 'API',
  cli: 'Command line',
  dashboard: 'Dashboard',
  stripe: 'Stripe',
}

/** The words of a name; the name itself where it has none. */
export function wordsFor(name: string, words: Readonly<Record<string, string>>): string {
  return Object.hasOwn(words, name) ? (words[name] ?? name) : name
}
