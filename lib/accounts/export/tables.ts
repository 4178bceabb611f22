import { VITALS } from '../../contract/telemetry/metrics.ts'

/** The columns of a table that an export contains: never a hash, a password or a token. */
export interface ExportedTable {
  /** The name of its files in the archive. */
  readonly name: string
  readonly table: string
  /** The column that names the owner: a user, or one of the user's sites. */
  readonly owner: 'id' | 'user_id' | 'actor_id' | 'site_id'
  /** Unique for the owner. An index serves `owner` and then these. Rows are exported in this order. */
  readonly key: readonly [string, ...string[]]
  readonly columns: readonly string[]
}

const PERIOD = ['period_start', 'period_end'] as const

export const EXPORTED: readonly ExportedTable[] = [
  {
    name: 'profile',
    table: 'users',
    owner: 'id',
    key: ['id'],
    columns: [
      'id',
      'email',
      'name',
      'email_verified',
      'plan',
      'role',
      'remote_id',
      'usage_mails',
      'created_at',
    ],
  },
  {
    // `lastUses` replaces last uses on days that are not over.
    name: 'keys',
    table: 'api_keys',
    owner: 'user_id',
    key: ['created_at', 'rowid'],
    columns: [
      ...['id', 'prefix', 'name', 'type', 'scopes', 'allowed_origins'],
      ...['created_at', 'last_used_at', 'expires_at', 'ends_at', 'lifetime_days', 'replaced_by'],
    ],
  },
  {
    name: 'sites',
    table: 'sites',
    owner: 'user_id',
    key: ['name'],
    columns: ['id', 'name', 'created_at', 'proven_at'],
  },
  {
    name: 'vitals-links',
    table: 'site_links',
    owner: 'user_id',
    key: ['id'],
    columns: ['id', 'site_id', 'created_at', 'expires_at'],
  },
  {
    name: 'vitals-alerts',
    table: 'vitals_alerts',
    owner: 'user_id',
    key: ['site_id'],
    columns: ['site_id', 'created_at', 'day', 'poor'],
  },
  {
    name: 'sessions',
    table: 'sessions',
    owner: 'user_id',
    key: ['id'],
    columns: ['id', 'ip_address', 'user_agent', 'created_at', 'updated_at', 'expires_at'],
  },
  {
    name: 'second-factor',
    table: 'second_factors',
    owner: 'user_id',
    key: ['user_id'],
    columns: ['confirmed_at'],
  },
  {
    name: 'usage-by-operation',
    table: 'usage_by_operation',
    owner: 'user_id',
    key: ['day', 'key_id', 'operation', 'status'],
    columns: ['day', 'key_id', 'operation', 'status', 'requests', 'look_ups', 'used_at'],
  },
  {
    // Days that are not over are only in the counts by operation.
    name: 'usage-by-month',
    table: 'usage_by_month',
    owner: 'user_id',
    key: ['month', 'key_id'],
    columns: ['month', 'key_id', 'requests', 'errors', 'limited'],
  },
  {
    name: 'usage-by-period',
    table: 'usage_by_period',
    owner: 'user_id',
    key: ['period_start'],
    columns: ['period_start', 'requests', 'overage'],
  },
  {
    name: 'billing-customer',
    table: 'billing_customers',
    owner: 'user_id',
    key: ['user_id'],
    columns: ['customer_id', 'created_at'],
  },
  {
    name: 'billing-subscription',
    table: 'subscriptions',
    owner: 'user_id',
    key: ['user_id'],
    columns: [
      'id',
      'plan',
      'interval',
      'currency',
      'status',
      ...PERIOD,
      'cancel_at',
      'trial_end',
      'overages',
    ],
  },
  {
    name: 'trial',
    table: 'trials',
    owner: 'user_id',
    key: ['user_id'],
    columns: ['started_at'],
  },
  {
    name: 'billing-overages',
    table: 'overage_reports',
    owner: 'user_id',
    key: ['identifier'],
    columns: ['subscription_id', ...PERIOD, 'from_units', 'to_units', 'at', 'sent_at'],
  },
  {
    name: 'spending-cap',
    table: 'spending_caps',
    owner: 'user_id',
    key: ['user_id'],
    columns: ['currency', 'amount'],
  },
  {
    name: 'usage-receivers',
    table: 'usage_receivers',
    owner: 'user_id',
    key: ['email'],
    columns: ['email', 'asked_at', 'confirmed_at', 'removed_at'],
  },
  {
    name: 'limit-notices',
    table: 'cap_notices',
    owner: 'user_id',
    key: ['id'],
    columns: [
      'channel',
      'email',
      'threshold',
      'percent',
      'requests',
      'amount',
      'currency',
      'state',
      'created_at',
    ],
  },
  {
    name: 'inquiries',
    table: 'inquiries',
    owner: 'user_id',
    key: ['id'],
    columns: ['id', 'name', 'email', 'company', 'message', 'state', 'created_at'],
  },
  {
    name: 'audit-log',
    table: 'audit_log',
    owner: 'actor_id',
    key: ['id'],
    columns: [
      ...['id', 'app', 'actor_label', 'action'],
      ...['target_type', 'target_id', 'detail', 'created_at'],
    ],
  },
  {
    name: 'telemetry-by-hour',
    table: 'rum_hours',
    owner: 'site_id',
    key: ['hour', 'country', 'device'],
    columns: [
      ...['site_id', 'hour', 'country', 'device', 'samples'],
      ...VITALS.flatMap((metric) =>
        ['p50', 'p75', 'p95'].map((percentile) => `${metric}_${percentile}`),
      ),
    ],
  },
  {
    name: 'telemetry-paths',
    table: 'rum_paths',
    owner: 'site_id',
    key: ['day', 'path'],
    columns: ['site_id', 'day', 'path', 'samples'],
  },
  {
    name: 'telemetry-pages',
    table: 'rum_pages',
    owner: 'site_id',
    key: ['day', 'path', 'device'],
    columns: ['site_id', 'day', 'path', 'device', 'samples'],
  },
  {
    name: 'telemetry-errors',
    table: 'rum_errors',
    owner: 'site_id',
    key: ['hour', 'hash'],
    columns: ['site_id', 'hour', 'hash', 'count', 'first_at', 'last_at'],
  },
  {
    name: 'telemetry-error-samples',
    table: 'rum_error_samples',
    owner: 'site_id',
    key: ['day', 'hash'],
    columns: ['site_id', 'day', 'hash', 'sample'],
  },
  {
    name: 'telemetry-attribution',
    table: 'rum_attribution',
    owner: 'site_id',
    key: ['day', 'label'],
    columns: ['site_id', 'day', 'label', 'count'],
  },
]
