import { alignKeyExpiry } from '../../lib/access/key-expiry.ts'
import { type Billing, createBilling } from '../../lib/billing/billing.ts'
import { type Mismatch, REPAIRABLE, reconcile } from '../../lib/billing/mirror/reconcile.ts'
import type { StripeConfig } from '../../lib/config/config.ts'
import { runInTransaction } from '../../lib/db/transaction.ts'
import { type Accounts, audit } from './accounts.ts'
import { jsonText } from './json-text.ts'
import type { OpenDatabase } from './postgres.ts'
import { report } from './run.ts'
import { textTable } from './text-table.ts'

/** Billing for a command. Its changes have the app `cli` in the audit log. */
export function openBilling(
  accounts: Accounts & Pick<OpenDatabase, 'secrets'>,
  stripe: StripeConfig,
): Billing {
  const { db, plans, now, secrets } = accounts
  return createBilling({
    db,
    plans,
    stripe,
    change: (statements) => runInTransaction(db, statements),
    alignKeyExpiry: (userId) => alignKeyExpiry(db, plans, now, userId),
    auditStripe: (userId, note) => audit(accounts, userId, note),
    // Used only for changes of plan, which no command makes.
    countRequests: async () => 0,
    secrets,
    onFailure: ({ type, code, status }) =>
      report(`Stripe refused a call: ${[type, code, status].filter(Boolean).join(', ')}`),
  })
}

/** Throws if Stripe is not configured. */
export function requireStripe({ secretKey }: StripeConfig): void {
  if (secretKey === undefined) throw new Error('STRIPE_SECRET_KEY is not set')
}

/** Compares the database with Stripe. Throws if somebody's subscription cannot be compared. */
export function findMismatches(
  billing: Billing,
  { now }: Accounts,
  mode: 'compare' | 'repair',
): Promise<Mismatch[]> {
  const onFailure = (error: unknown) => {
    throw error
  }
  return reconcile(billing, { now, mode, onFailure })
}

/** The mismatches as a table, or as JSON, with what a repair did or would do about each. */
export function mismatchText(
  found: readonly Mismatch[],
  mode: 'compare' | 'repair',
  format: 'json' | 'table',
): string {
  const repair = mode === 'repair' ? 'repaired' : 'can be repaired'
  const rows = found.map((mismatch) => {
    return { ...mismatch, repair: REPAIRABLE.includes(mismatch.kind) ? repair : null }
  })
  if (format === 'json') return jsonText(rows)
  if (rows.length === 0) return 'The database agrees with Stripe\n'
  return textTable(rows, {
    Kind: ({ kind }) => kind,
    User: ({ user }) => user ?? '',
    Customer: ({ customer }) => customer ?? '',
    Detail: ({ detail }) => detail,
    Repair: ({ repair: how }) => how ?? '',
  })
}
