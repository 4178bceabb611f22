/** Actions of the audit log. Triggers in lib/db/migrations write some of them. */
export const AUDIT_ACTIONS = [
  'add_tax_id',
  'apply_promo',
  'assign_customer',
  'cancel_subscription',
  'change_email',
  'change_plan',
  'create_checkout',
  'create_key',
  'create_setup_intent',
  'create_site',
  'create_user',
  'delete_account',
  'delete_site',
  'delete_tax_id',
  'disable_account',
  'disable_two_factor',
  'dispute_closed',
  'enable_account',
  'enable_two_factor',
  'end_duplicate',
  'end_session',
  'export_account',
  'find_duplicate',
  'gain_site',
  'link_account',
  'login',
  'lose_proof',
  'lose_site',
  'near_cap',
  'open_portal',
  'payment_disputed',
  'payment_failed',
  'payment_refunded',
  'plan_change_lapsed',
  'prove_site',
  'reach_cap',
  'reach_spending_cap',
  'reactivate_subscription',
  'release_customer',
  'renew_key',
  'renew_recovery_codes',
  'revoke_key',
  'send_inquiry',
  'set_overages',
  'set_password',
  'set_payment_method',
  'set_role',
  'set_spending_cap',
  'subscription_ended',
  'subscription_updated',
  'update_address',
  'use_recovery_code',
] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]

/** An entry of the audit log, without its actor and time. */
export interface AuditNote {
  readonly action: AuditAction
  readonly targetType?: string | null | undefined
  readonly targetId?: string | null | undefined
  readonly detail?: string | null | undefined
}
