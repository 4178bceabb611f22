/** Actions of the audit log. Triggers in lib/db/migrations write some of them. */
export const AUDIT_ACTIONS = [
  'add_tax_id',
  'apply_promo',
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
  'end_session',
  'export_account',
  'gain_site',
  'link_account',
  'login',
  'lose_proof',
  'lose_site',
  'near_cap',
  'open_portal',
  'payment_failed',
  'prove_site',
  'reach_cap',
  'reactivate_subscription',
  'renew_key',
  'revoke_key',
  'send_inquiry',
  'set_overages',
  'set_password',
  'set_payment_method',
  'set_role',
  'subscription_ended',
  'subscription_updated',
  'update_address',
] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]

/** An entry of the audit log, without its actor and time. */
export interface AuditNote {
  readonly action: AuditAction
  readonly targetType?: string | null | undefined
  readonly targetId?: string | null | undefined
  readonly detail?: string | null | undefined
}
