import type { AuditAction } from '../../../lib/contract/account/audit-actions.ts'

export const ACTION_LABELS: Readonly<Record<AuditAction, string>> = {
  add_tax_id: 'Tax ID added',
  apply_promo: 'Promotion code entered',
  assign_customer: 'Stripe customer assigned',
  cancel_subscription: 'Subscription cancelled',
  change_email: 'E-mail address changed',
  change_plan: 'Plan changed',
  create_checkout: 'Checkout opened',
  create_key: 'Key created',
  create_setup_intent: 'Payment method form opened',
  create_site: 'Site added',
  create_user: 'Account created',
  delete_account: 'Account deleted',
  delete_site: 'Site removed',
  delete_tax_id: 'Tax ID removed',
  disable_account: 'Account disabled',
  dispute_closed: 'Payment dispute closed',
  enable_account: 'Account enabled',
  end_duplicate: 'Second subscription ended',
  end_session: 'Session ended',
  export_account: 'Data exported',
  find_duplicate: 'Second subscription found',
  gain_site: 'Site started receiving',
  link_account: 'Link to set a password made',
  login: 'Signed in',
  lose_proof: 'Proof of a site ended',
  lose_site: 'Site stopped receiving',
  near_cap: 'Monthly cap nearly reached',
  open_portal: 'Stripe portal opened',
  payment_disputed: 'Payment disputed',
  payment_failed: 'Payment failed',
  payment_refunded: 'Payment refunded',
  prove_site: 'Site proved',
  reach_cap: 'Monthly cap reached',
  reach_spending_cap: 'Spending cap reached',
  reactivate_subscription: 'Subscription reactivated',
  release_customer: 'Stripe customer given up',
  renew_key: 'Key renewed',
  revoke_key: 'Key revoked',
  send_inquiry: 'Inquiry sent',
  set_overages: 'Overages turned on or off',
  set_password: 'Password created or changed',
  set_payment_method: 'Payment method changed',
  set_role: 'Role changed',
  set_spending_cap: 'Spending cap changed',
  subscription_ended: 'Subscription ended',
  subscription_updated: 'Subscription updated',
  update_address: 'Billing address changed',
}

export const APP_LABELS: Readonly<Record<string, string>> = {
  api: 'API',
  cli: 'Command line',
  dashboard: 'Dashboard',
  stripe: 'Stripe',
}

/** The label of a name, or the name itself if it has none. */
export function labelOf(name: string, labels: Readonly<Record<string, string>>): string {
  return Object.hasOwn(labels, name) ? (labels[name] ?? name) : name
}
